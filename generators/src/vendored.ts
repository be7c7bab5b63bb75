import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { PackageSource } from "./template.js";

/** The file that npm packs a package into: `tsgi-client-0.1.0.tgz` for `@tsgi/client`. */
export function fileNameOf(name: string, version: string): string {
  return `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;
}

/**
 * The tarball of a package in `vendor` of the project that includes this package, or `null` if this package is from a
 * registry. Projects created from the repository pass their tarballs on, because a registry may have other packages of
 * these names.
 *
 * @param packageRoot the folder of this package, somewhere below `node_modules` of the project
 */
export function findVendored(packageRoot: string, name: string, version: string): PackageSource | null {
  const path = `vendor/${fileNameOf(name, version)}`;
  for (let folder = packageRoot; folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, path);
    if (existsSync(file)) {
      return { specifier: `file:${path}`, tarball: { path, read: async () => readFileSync(file) } };
    }
  }
  return null;
}
