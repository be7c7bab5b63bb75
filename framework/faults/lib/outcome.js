/** The result exceeds the limit. */
export class Failed extends Error {}

/** The fault cannot be shown on this machine. */
export class Skipped extends Error {}

/** Throws a Failed with the text where the condition does not hold. */
export function demand(condition, text) {
  if (!condition) throw new Failed(text);
}
