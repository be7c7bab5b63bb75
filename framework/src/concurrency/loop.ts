/** The I/O loop that serves connections: Node's own, or that of uWebSockets.js. @module */
import { configurationError } from "../exceptions.js";

/** An I/O loop by its name. Node's is libuv. */
export type LoopName = "libuv" | "uwebsockets";

let installed: LoopName = "libuv";

/**
 * The name of the I/O loop that servers of this process use by default.
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
 * @throws ConfigurationError for an unknown name.
 * @example
 * ```ts
 * import { installLoop } from "tsgi/concurrency";
 *
 * installLoop("libuv"); // Node's own, though uWebSockets.js is installed
 * ```
 */
export function installLoop(name: LoopName = "uwebsockets"): LoopName {
  if (name !== "libuv" && name !== "uwebsockets") throw configurationError("TSGI_UNKNOWN_LOOP", name);
  installed = name === "uwebsockets" && findLoopPackage() === null ? "libuv" : name;
  return installed;
}

/** uWebSockets.js, the package of the faster loop. */
export interface LoopPackage {
  readonly App: unknown;
  readonly SSLApp: unknown;
}

let known: LoopPackage | null | undefined;

/** The package where it is installed with a binary for this Node and C library; looked up once. `null` elsewhere. */
export function findLoopPackage(): LoopPackage | null {
  if (known === undefined) known = isLinux() ? load() : null;
  return known;
}

/** Replaces the installed package, for tests. */
export function useLoopPackage(other: LoopPackage | null): void {
  known = other;
}

/** A web runtime has no `process`, and loads this module with the main entry point. */
function isLinux(): boolean {
  return typeof process === "object" && process.platform === "linux";
}

/** It is installed beside this package, or beside the program that uses it. */
function load(): LoopPackage | null {
  const { createRequire } = process.getBuiltinModule("node:module");
  for (const place of [import.meta.url, process.argv[1]]) {
    try {
      const found: unknown = createRequire(place as string)("uWebSockets.js");
      if (isWhole(found)) return found;
    } catch {
      // not installed there, or without a binary that this process can load
    }
  }
  return null;
}

/** A republished build falls back to a stand-in on `node:http`, which is slower than `node:http` and does less. */
function isWhole(found: unknown): found is LoopPackage {
  return typeof found === "object" && found !== null && "App" in found && "SSLApp" in found;
}
