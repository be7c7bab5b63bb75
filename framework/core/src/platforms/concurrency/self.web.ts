/** `self.ts` in bundles for the web, which never run in a worker of a pool. @module */

/** Always `null`: this code runs in no worker. */
export function workerHost(): null {
  return null;
}
