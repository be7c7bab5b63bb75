/** Rules of options. @module */
import { expecting, type OptionRule } from "tsgi/internals";

/** The option is a string that is not empty, or an array of them. */
export const NAMES: OptionRule = expecting("a string, or a list of strings", (value) => {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.length > 0 && list.every((name) => typeof name === "string" && name !== "");
});
