/** The compilers that users' editors run, and a way to ask them. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { IS_SLOW } from "./on-demand.js";
import { declarationPaths, FRAMEWORK } from "./packages.js";

const ROOT = join(FRAMEWORK, "..");
const { resolve } = createRequire(import.meta.url);

/** Installs a compiler on demand, outside of the normal dependencies. */
function compilerOnDemand(version: string): string {
  const folder = join(ROOT, ".cache", `typescript-${version}`);
  mkdirSync(folder, { recursive: true });
  execFileSync("npm", ["install", "--prefix", folder, "--no-save", "--no-package-lock", `typescript@${version}`], {
    stdio: "ignore",
  });
  return join(folder, "node_modules/typescript/lib/tsc.js");
}

/** The compiler of this repository, and of projects that are generated. */
export const NEWEST: [version: string, path: () => string] = [
  "7",
  () => join(dirname(resolve("typescript/package.json")), "bin/tsc"),
];

/** The oldest one that the pages promise. It is downloaded only for the slow tests. */
export const oldestCompilers: [version: string, path: () => string][] = IS_SLOW
  ? [["5.4.5", () => compilerOnDemand("5.4.5")]]
  : [];

/** Compilers with an API for programs and for editors. 6 is downloaded only for the slow tests. */
export const compilersWithAPI: [version: string, path: () => string][] = [
  ["5.9", () => resolve("typescript-5.9/lib/tsc.js")],
  ...(IS_SLOW ? [["6.0.3", () => compilerOnDemand("6.0.3")] as [string, () => string]] : []),
];

/** Those that compile the programs of tests: the others only in the slow tests. */
export const compilers = IS_SLOW ? [...compilersWithAPI, NEWEST] : [NEWEST];

/** Writes files as a user's project, with what compiles them. */
export function writeProject(folder: string, files: Readonly<Record<string, string>>, options: object = {}): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, source] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), source);
  }
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: "nodenext",
    target: "es2022",
    skipLibCheck: true,
    types: ["node"],
    typeRoots: [join(ROOT, "node_modules/@types")],
    paths: declarationPaths(),
    ...options,
  };
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: Object.keys(files) }));
}

/** Compiles files as a user's project does, with optional compiler options. Gives the compiler's output. */
export function compile(
  compiler: string,
  folder: string,
  files: Readonly<Record<string, string>>,
  options?: object,
): string {
  writeProject(folder, files, options);
  const run = spawnSync(process.execPath, [compiler, "-p", folder, "--pretty", "false"], {
    cwd: folder,
    encoding: "utf8",
  });
  return run.stdout;
}
