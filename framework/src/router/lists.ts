import { configurationError } from "../exceptions.js";

/** The options that are lists, of an App, a router or a route. */
interface Lists {
  readonly tags?: readonly unknown[];
  readonly dependencies?: readonly unknown[];
  readonly middleware?: readonly unknown[];
}

/**
 * Refuses what is no list: text in the place of one would be taken apart letter by letter.
 *
 * @param where - What has the options, for the message.
 * @throws ConfigurationError naming the option.
 */
export function assertLists({ tags, dependencies, middleware }: Lists, where: string): void {
  for (const [name, list] of Object.entries({ tags, dependencies, middleware })) {
    if (list !== undefined && !Array.isArray(list)) {
      throw configurationError("TSGI_NOT_A_LIST", where, name, list);
    }
  }
  for (const layer of middleware ?? []) {
    if (typeof layer === "function") continue;
    throw configurationError("TSGI_MIDDLEWARE_NOT_A_FUNCTION.listed", where, layer);
  }
}
