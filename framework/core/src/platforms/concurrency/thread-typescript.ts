/**
 * TypeScript in worker threads through `tsx`. Node 20 does not run `--import` in threads, and no version runs there the
 * hooks that a program registers later, as `tsgi` does: each thread registers them itself.
 *
 * @module
 */
import { nodeModule } from "../../common/platform.js";

const USER = "A pool of threads";

/** `tsx`, `tsx/esm`, or a file of that package, as `--import` and `--require` name it. */
const TSX = /^tsx(\/\w+)?$|[\\/]node_modules[\\/]tsx[\\/]/;

/** A file or folder from which `tsx` resolves, where an option of this process loads it; `null` elsewhere. */
export function findTsx(): string | null {
  const options = [...process.execArgv, ...(process.env["NODE_OPTIONS"] ?? "").split(/\s+/)];
  const loader = options.map((option) => option.replace(/^--?\w+=/, "")).find((name) => TSX.test(name));
  if (loader === undefined) return null;
  // A package's name counts from the working directory.
  return loader.startsWith("tsx") ? `${process.cwd()}/package.json` : loader;
}

/** Makes `import()` and `require` of TypeScript work in this thread. @param from - The result of `findTsx`. */
export async function registerTsx(from: string): Promise<void> {
  const { createRequire } = nodeModule("node:module", USER);
  const { readFileSync } = nodeModule("node:fs", USER);
  const { pathToFileURL } = nodeModule("node:url", USER);
  const path = nodeModule("node:path", USER);
  // Its modules by their files: `resolve` uses the condition `require`, whose modules do not register hooks.
  const manifest = createRequire(from).resolve("tsx/package.json");
  const { exports } = JSON.parse(readFileSync(manifest, "utf8")) as TsxManifest;
  for (const name of ["./cjs/api", "./esm/api"] as const) {
    const file = path.join(path.dirname(manifest), exports[name].import.default);
    const { register } = (await import(/* webpackIgnore: true */ /* @vite-ignore */ pathToFileURL(file).href)) as {
      register: () => unknown;
    };
    register();
  }
}

/** The entry points of tsx that register it, from version 4.19 on. */
interface TsxManifest {
  exports: Record<"./cjs/api" | "./esm/api", { import: { default: string } }>;
}
