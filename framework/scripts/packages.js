/** The published packages of the framework: the folders next to this one with a manifest. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

export const FRAMEWORK = path.dirname(import.meta.dirname);

/** The manifest of a package. */
export function readManifest(folder) {
  return JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
}

/** The folders of all published packages, the core first. */
export function packageFolders() {
  return readdirSync(FRAMEWORK)
    .map((name) => path.join(FRAMEWORK, name))
    .filter((folder) => existsSync(path.join(folder, "package.json")))
    .toSorted((a, b) => Number(path.basename(b) === "core") - Number(path.basename(a) === "core"));
}

/** The entry points of all packages: the name that a program imports, the package's folder, and the declarations. */
export function entryPoints() {
  return packageFolders().flatMap((folder) => {
    const { name, exports } = readManifest(folder);
    return Object.entries(exports).flatMap(([key, { types }]) =>
      types === undefined ? [] : [{ name: path.posix.join(name, key), folder, file: path.join(folder, types) }],
    );
  });
}
