/** Functions that pools call. A worker imports this module, so it has no side effects. @module */

/** Sorts names as a person does, in a language. */
export function sortNames(names: readonly string[], language: string): readonly string[] {
  return names.toSorted(new Intl.Collator(language).compare);
}

export function fail(): never {
  throw new TypeError("a name is missing");
}
