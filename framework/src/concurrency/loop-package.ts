/** uWebSockets.js, the package of the faster loop: whether it is there. @module */

/** What every build of the package has. */
export interface LoopPackage {
  readonly App: unknown;
  readonly SSLApp: unknown;
}

let known: LoopPackage | null | undefined;

/** The package where it is installed and has a binary for this Node and C library, looked for once; else `null`. */
export function findLoopPackage(): LoopPackage | null {
  if (known === undefined) known = isLinux() ? load() : null;
  return known;
}

/** Takes this for the package, in place of what is installed. */
export function useLoopPackage(other: LoopPackage | null): void {
  known = other;
}

/** A web runtime has no `process`, and loads this module with the main entry point. */
function isLinux(): boolean {
  return typeof process === "object" && process.platform === "linux";
}

/** It stands beside this package, or beside the program that uses it. */
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
