/** `self.ts` in bundles for the web, which never run in a worker of a pool. @module */

/** Returns `null`. */
export function workerHost(): null {
  return null;
}
