/** Options by their names: one that is spelt wrongly would be silently without effect. @module */
import { configurationError } from "./exceptions.js";
import { nearest } from "./wording.js";

/** The names of all options of a type. One that is left out, and one that there is not, does not compile. */
export function namesOf<Options extends object>(names: Readonly<Record<keyof Options, true>>): readonly string[] {
  return Object.keys(names);
}

/**
 * Refuses what are no options, and an option that does not exist. Keys that are symbols are nobody's mistake.
 *
 * @param place - Whose options they are: `"cors()"`, `"GET /items"`.
 * @param known - The names of all options that there are.
 * @throws ConfigurationError naming the option, the one that was probably meant, and all that there are.
 */
export function assertOptions(place: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw configurationError("TSGI_INVALID_OPTIONS", place, known, options);
  }
  for (const option of Object.keys(options)) {
    if (known.includes(option)) continue;
    const meant = nearest(option, known);
    throw configurationError("TSGI_UNKNOWN_OPTION", place, option, known, meant);
  }
}
