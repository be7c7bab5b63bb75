/** Modules of Node, for the parts that need files, processes or compression. @module */
import { isWorkerd, missingModule } from "./runtime.js";

/* oxlint-disable typescript/consistent-type-imports -- an import at the top would have to name each module twice */
/** The modules that are used outside of the adapters to Node. */
export interface NodeModules {
  "node:async_hooks": typeof import("node:async_hooks");
  "node:child_process": typeof import("node:child_process");
  "node:crypto": typeof import("node:crypto");
  "node:fs": typeof import("node:fs");
  "node:fs/promises": typeof import("node:fs/promises");
  "node:module": typeof import("node:module");
  "node:net": typeof import("node:net");
  "node:os": typeof import("node:os");
  "node:path": typeof import("node:path");
  "node:perf_hooks": typeof import("node:perf_hooks");
  "node:sea": { isSea(): boolean };
  "node:url": typeof import("node:url");
  "node:worker_threads": typeof import("node:worker_threads");
  "node:zlib": typeof import("node:zlib");
}
/* oxlint-enable typescript/consistent-type-imports */

/**
 * Cloudflare's runtime has modules of these names, but no files of the application and no processes, and its clock does not
 * advance while code runs.
 */
const EMPTY_ON_WORKERD: ReadonlySet<keyof NodeModules> = new Set([
  "node:child_process",
  "node:fs",
  "node:fs/promises",
  "node:perf_hooks",
  "node:worker_threads",
]);

/** A module of Node; `undefined` where the platform lacks it. A web runtime may have no `process`, or less of it. */
export function findModule<Name extends keyof NodeModules>(name: Name): NodeModules[Name] | undefined {
  if (EMPTY_ON_WORKERD.has(name) && isWorkerd()) return undefined;
  const platform: { getBuiltinModule?: (id: Name) => NodeModules[Name] | undefined } | undefined = globalThis.process;
  return platform?.getBuiltinModule?.(name);
}

/**
 * A module of Node. Not imported: a bundler for the web rejects such an import, even if it is never executed.
 *
 * @param user - The one that needs it, for the message: `"StaticFiles"`.
 * @throws ConfigurationError where the platform lacks it.
 */
export function nodeModule<Name extends keyof NodeModules>(name: Name, user: string): NodeModules[Name] {
  const found = findModule(name);
  if (found === undefined) throw missingModule(name, user);
  return found;
}

/** Tells if there are files: without them, uploads stay in memory. */
export function hasFiles(): boolean {
  return findModule("node:fs/promises") !== undefined;
}

/** Tells if workers of a pool can be started. */
export function hasWorkers(): boolean {
  return findModule("node:child_process") !== undefined;
}

/** Tells if this process is the first of those that serve: a line about the application is logged once. */
export function isFirstProcess(): boolean {
  return (globalThis.process?.env["NODE_UNIQUE_ID"] ?? "1") === "1";
}

/**
 * Tells if this executable contains the application, as Node (SEA), `bun build --compile` and `deno compile` make it.
 * There `process.execPath` starts the application, and no runtime that would run a file.
 */
export function isStandalone(): boolean {
  const globals: typeof globalThis & { Bun?: { main: string }; Deno?: { build: { standalone?: boolean } } } =
    globalThis;
  const { Bun, Deno } = globals;
  if (Deno !== undefined) return Deno.build.standalone === true;
  if (Bun !== undefined) return /^(?:file:\/\/)?\/\$bunfs\/|^[A-Z]:[/\\]~BUN[/\\]/.test(Bun.main);
  return findModule("node:sea")?.isSea() ?? false;
}
