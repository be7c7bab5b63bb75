/** TypeScript entry files: loaded through `tsx` where the project has it, else by Node itself. @module */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { commandError } from "./errors.js";

/** The loader of TypeScript files: a module to register, Node itself, or `null`. */
export type TypeScriptLoader = { name: "tsx"; register: string } | { name: "node" } | null;

export function isTypeScript(file: string): boolean {
  return /\.[cm]?tsx?$/.test(file);
}

/** The loader of a project: its own `tsx`, Node's type stripping (22.18 and later), or `null`. */
export function findTypeScriptLoader(folder: string): TypeScriptLoader {
  try {
    const resolve = createRequire(path.join(folder, "package.json")).resolve;
    // The module that `node --import tsx` loads. `resolve` follows `require`, whose condition leads to another file.
    const manifest = resolve("tsx/package.json");
    const { exports } = JSON.parse(readFileSync(manifest, "utf8")) as { exports: { ".": string } };
    return { name: "tsx", register: pathToFileURL(path.join(path.dirname(manifest), exports["."])).href };
  } catch {
    return stripsTypes() ? { name: "node" } : null;
  }
}

/**
 * Makes `import()` of TypeScript files work in this process.
 *
 * @throws CommandError saying what to install where the project has no loader, and this Node strips no types.
 */
export async function enableTypeScript(file: string): Promise<void> {
  const loader = findTypeScriptLoader(path.dirname(file));
  if (loader === null) {
    throw commandError("TSGI_MISSING_TYPESCRIPT_LOADER", path.relative(process.cwd(), file), process.versions.node);
  }
  if (loader.name === "tsx") {
    await import(loader.register);
    // For the processes that this one starts: workers of a pool.
    if (!process.execArgv.includes(loader.register)) process.execArgv.push("--import", loader.register);
  }
}

function stripsTypes(): boolean {
  return "typescript" in process.features && Boolean(process.features.typescript);
}
