/** The packages of the framework, as npm would install them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, symlink } from "node:fs/promises";
import path from "node:path";

export const FRAMEWORK = path.resolve(import.meta.dirname, "../..");

/** The packages of the repository's root, such as `mrmime`. */
export const MODULES = path.join(FRAMEWORK, "../node_modules");

/** The program of the command `tsgi`. */
export const COMMAND = path.join(FRAMEWORK, "cli/bin/tsgi.js");

interface EntryPoint {
  readonly types: string;
  readonly browser?: string;
  readonly module?: string;
  readonly require?: string;
  readonly default: string;
}

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly version: string;
  readonly bin?: Readonly<Record<string, string>>;
  readonly sideEffects?: false | readonly string[];
  readonly exports: Readonly<Record<string, string | EntryPoint>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** The manifest of the package in a folder of `framework/`. */
export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(path.join(FRAMEWORK, folder, "package.json"), "utf8")) as Manifest;
}

/** The folders below `framework/` of all published packages. */
export const PACKAGES: readonly string[] = readdirSync(FRAMEWORK).filter((folder) =>
  existsSync(path.join(FRAMEWORK, folder, "package.json")),
);

/** The folder of a package by its name; `undefined` for a package from elsewhere. */
function folderOf(name: string): string | undefined {
  return PACKAGES.find((folder) => manifestOf(folder).name === name);
}

/**
 * Puts built packages of the framework and their dependencies into the `node_modules` of a folder: copies of our own,
 * links to others. Peers are left out, other than our own.
 */
export async function installPackages(home: string, names: readonly string[]): Promise<void> {
  const todo = new Set(names);
  for (const name of todo) {
    const target = path.join(home, "node_modules", name);
    await mkdir(path.dirname(target), { recursive: true });
    const folder = folderOf(name);
    if (folder === undefined) {
      await symlink(path.join(MODULES, name), target);
      continue;
    }
    const { dependencies = {}, peerDependencies = {} } = manifestOf(folder);
    for (const part of ["package.json", "bin", "assets", "dist"]) {
      const source = path.join(FRAMEWORK, folder, part);
      const isNeeded = (file: string) => !file.endsWith(".map");
      if (existsSync(source)) await cp(source, path.join(target, part), { recursive: true, filter: isNeeded });
    }
    for (const needed of Object.keys(dependencies)) todo.add(needed);
    for (const peer of Object.keys(peerDependencies)) if (folderOf(peer) !== undefined) todo.add(peer);
  }
}

/** The declarations of each entry point, as the option `paths` of a compiler. */
export function declarationPaths(): Record<string, string[]> {
  const entries = PACKAGES.flatMap((folder) => {
    const { name, exports } = manifestOf(folder);
    return Object.entries(exports).flatMap(([entry, target]): [string, string[]][] =>
      typeof target === "string" ? [] : [[path.posix.join(name, entry), [path.join(FRAMEWORK, folder, target.types)]]],
    );
  });
  return Object.fromEntries(entries);
}
