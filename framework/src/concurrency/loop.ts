/** The I/O loop that serves connections: Node's own, or a faster one that took its place. @module */
import { configurationError } from "../exceptions.js";
import { findLoopPackage } from "./loop-package.js";

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

/**
 * Makes a loop the one that servers of this process use. Importing `tsgi/node` does it for the fastest.
 *
 * @param name - Defaults to the fastest: `"uwebsockets"`.
 * @returns The loop that is used now: `"libuv"` where uWebSockets.js is not installed or cannot be loaded.
 * @throws ConfigurationError when there is no loop of that name.
 * @example
 * ```ts
 * import { installLoop } from "tsgi/concurrency";
 *
 * installLoop("libuv"); // Node's own, though uWebSockets.js is installed
 * ```
 */
export function installLoop(name: LoopName = "uwebsockets"): LoopName {
  if (name !== "libuv" && name !== "uwebsockets") {
    throw configurationError("TSGI_UNKNOWN_LOOP", name);
  }
  installed = name === "uwebsockets" && findLoopPackage() === null ? "libuv" : name;
  return installed;
}
