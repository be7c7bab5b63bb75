/** `emit-dfa.ts` in bundles for the web: most of its platforms forbid generated code, and the automaton runs without. @module */

/** Emits no code. */
export function emitDfa(): null {
  return null;
}
