/** The I/O loop that serves connections: Node's own, or the one of uWebSockets.js. @module */
import { configurationError } from "../../common/exceptions.js";
import { firstOf, OWN_URL, places } from "../../common/installed.js";

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
 * loopName(); // "libuv" where @tsgi/uwebsockets is not installed
 * ```
 */
export function loopName(): LoopName {
  return installed;
}

/**
 * Makes a loop the one that servers of this process use. Importing `tsgi/node` does it for the fastest.
 *
 * @param name - Defaults to the fastest: `"uwebsockets"`.
 * @returns The loop that is used now: `"libuv"` where `@tsgi/uwebsockets` is not installed or cannot be loaded.
 * @throws ConfigurationError for an unknown name.
 * @example
 * ```ts
 * import { installLoop } from "tsgi/concurrency";
 *
 * installLoop("libuv"); // Node's own, though @tsgi/uwebsockets is installed
 * ```
 */
export function installLoop(name: LoopName = "uwebsockets"): LoopName {
  if (name !== "libuv" && name !== "uwebsockets") throw configurationError("TSGI_UNKNOWN_LOOP", name);
  installed = name === "uwebsockets" && findLoopPackage() === null ? "libuv" : name;
  return installed;
}

/** The parts of uWebSockets.js that distinguish the package from a stand-in. */
export interface NativeLoop {
  readonly App: unknown;
  readonly SSLApp: unknown;
  readonly us_listen_socket_close: unknown;
  readonly us_socket_local_port: unknown;
}

/** The faster loop: uWebSockets.js, and the package that serves on it. */
export interface LoopPackage {
  readonly native: NativeLoop;
  /** The module of its driver: a name or a URL. */
  readonly driver: string;
}

/** The package that serves on uWebSockets.js. Its name never appears as a string that a bundler follows. */
const DRIVER = "@tsgi/uwebsockets";

let known: LoopPackage | null | undefined;

/**
 * `@tsgi/uwebsockets` if it is installed together with uWebSockets.js, which has a binary for this Node and C library;
 * looked up once. `null` elsewhere.
 */
export function findLoopPackage(): LoopPackage | null {
  if (known === undefined) known = isLinux() ? find() : null;
  return known;
}

/** Replaces the installed package, for tests. */
export function useLoopPackage(native: NativeLoop | null): void {
  known = native && { native, driver: DRIVER };
}

/** A web runtime has no `process`, and loads this module with the main entry point. */
function isLinux(): boolean {
  return typeof process === "object" && process.platform === "linux";
}

function find(): LoopPackage | null {
  const { createRequire } = process.getBuiltinModule("node:module");
  const { fileURLToPath, pathToFileURL } = process.getBuiltinModule("node:url");
  const driver = firstOf(places(), (place) => createRequire(place).resolve(DRIVER));
  if (driver === null) return null;
  const core = firstOf([driver], (place) => createRequire(place).resolve("tsgi/internals"));
  if (core === null || !isBelowPackage(core, OWN_URL, fileURLToPath)) return null;
  const native: unknown = firstOf([driver, ...places()], (place): unknown => createRequire(place)("uWebSockets.js"));
  return isWhole(native) ? { native, driver: pathToFileURL(driver).href } : null;
}

/**
 * Tells if the driver uses this copy of the package. A bundle contains another copy, whose requests and errors are unknown to
 * the driver.
 *
 * @param internals - `dist/internals.js` of the driver's copy.
 */
function isBelowPackage(internals: string, own: string | undefined, toPath: (url: string) => string): boolean {
  const path = process.getBuiltinModule("node:path");
  return own !== undefined && toPath(own).startsWith(path.resolve(internals, "../..") + path.sep);
}

/**
 * A republished build falls back to a stand-in on `node:http`, which is slower than `node:http` and has fewer features.
 */
function isWhole(found: unknown): found is NativeLoop {
  return (
    typeof found === "object" &&
    found !== null &&
    ["App", "SSLApp", "us_listen_socket_close", "us_socket_local_port"].every((name) => name in found)
  );
}
