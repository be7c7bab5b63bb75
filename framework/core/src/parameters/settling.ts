/** The mark of a dependency that settles with the response, by which routes and `Depends` know one. @module */

const settling = new WeakSet<object>();

/** Marks a dependency that settles. */
export function markSettling(callable: object): void {
  settling.add(callable);
}

/** Tells if a dependency settles with the response. */
export function isSettling(callable: object): boolean {
  return settling.has(callable);
}
