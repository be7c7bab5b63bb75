/** Options: one that is misspelt, or has a value that cannot work, would be silently without effect. @module */
import { configurationError } from "./exceptions.js";
import { defined } from "./records.js";

/** Throws a `ConfigurationError` for a value that an option cannot have. `undefined` never reaches it. */
export type OptionRule = (place: string, option: string, value: unknown) => void;

/** A rule for each option of a type. The compiler checks that the list is exhaustive. */
export type OptionRules<Options extends object> = { readonly [Name in keyof Required<Options>]: OptionRule };

/** Makes a rule. @param expected - Completes the sentence "maxAge should be …". */
export function expecting(expected: string, accepts: (value: unknown) => boolean): OptionRule {
  return (place, option, value) => {
    if (!accepts(value)) throw configurationError("TSGI_INVALID_OPTION", place, option, expected, value);
  };
}

/** An object that is not a list. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** For values that are checked when they are used. */
export const ANYTHING: OptionRule = () => {};

/** The option is a boolean. */
export const FLAG = expecting("true or false", (value) => typeof value === "boolean");
/** The option is a string. */
export const TEXT = expecting("a string", (value) => typeof value === "string");
/** A string in the place of a list would be taken apart letter by letter. */
export const LIST = expecting("a list", Array.isArray);
/** The option is a function. */
export const FUNCTION = expecting("a function", (value) => typeof value === "function");
/** The option is an object. */
export const OBJECT = expecting("an object", isObject);

/** A group of options with separate rules. */
export function group(rules: Readonly<Record<string, OptionRule>>): OptionRule {
  return (place, option, value) => assertOptions(`${place}: ${option}`, value, rules);
}

/** A whole number within bounds, both included. */
export function whole(least: number, most = Number.MAX_SAFE_INTEGER): OptionRule {
  const bounds = most === Number.MAX_SAFE_INTEGER ? `from ${least} on` : `from ${least} to ${most}`;
  return expecting(`a whole number ${bounds}`, (value) => {
    return typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most;
  });
}

const isAmount = (value: unknown) => typeof value === "number" && value >= 0;

/** A bound from 0 on, `Infinity` included. */
export const AMOUNT = expecting("a number from 0 on", isAmount);
/** A time from 0 on, `Infinity` included. */
export const MILLISECONDS = expecting("milliseconds from 0 on", isAmount);

/** One of some values. */
export function oneOf(...values: readonly (string | number | boolean)[]): OptionRule {
  const [last, ...others] = values.map((value) => JSON.stringify(value)).toReversed();
  return expecting(`${others.toReversed().join(", ")} or ${last}`, (value) => values.some((one) => one === value));
}

/** Options with their defaults. One that is `undefined` counts as left out. */
export function withDefaults<Options extends object, Name extends keyof Options>(
  options: Options,
  defaults: { readonly [Key in Name]: NonNullable<Options[Key]> },
): Options & { [Key in Name]-?: NonNullable<Options[Key]> } {
  return { ...defaults, ...defined(options) } as Options & { [Key in Name]-?: NonNullable<Options[Key]> };
}

/**
 * Rejects a value that is not an object of options, an unknown option, and a value that breaks the option's rule.
 * Symbols are ignored.
 *
 * @param place - Whose options they are: `"cors()"`, `"GET /items"`.
 * @param rules - A rule for each option.
 * @throws ConfigurationError naming the option, and for an unknown one that which was probably meant.
 */
export function assertOptions(place: string, options: unknown, rules: Readonly<Record<string, OptionRule>>): void {
  const known = Object.keys(rules);
  if (!isObject(options)) throw configurationError("TSGI_INVALID_OPTIONS", place, known, options);
  for (const [option, value] of Object.entries(options)) {
    if (!known.includes(option)) {
      throw configurationError("TSGI_UNKNOWN_OPTION", place, option, known);
    }
    if (value !== undefined) rules[option]?.(place, option, value);
  }
}
