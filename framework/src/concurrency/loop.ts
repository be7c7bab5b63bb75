/** The I/O loop that serves connections: Node's own, or a faster one that took its place. @module */

/** An I/O loop by its name. Node's is libuv. */
export type LoopName = "libuv" | "uwebsockets";

let installed: LoopName = "libuv";

/**
 * The name of the I/O loop that servers of this process use unless they are told otherwise.
 *
 * @example
 * ```ts
 * import { loopName } from "tsgi/concurrency";
 *
 * loopName(); // "libuv" where uWebSockets.js is not installed
 * ```
 */
export function loopName(): LoopName {
  return installed;
}

/** Makes a loop the one that servers of this process use. A server calls it for what it was able to load. */
export function installLoop(name: LoopName): void {
  installed = name;
}
