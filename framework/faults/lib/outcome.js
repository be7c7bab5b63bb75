/** The fault showed more than passes. */
export class Failed extends Error {}

/** This machine cannot show the fault. */
export class Skipped extends Error {}

/** Throws a Failed with the text where the condition does not hold. */
export function demand(condition, text) {
  if (!condition) throw new Failed(text);
}
