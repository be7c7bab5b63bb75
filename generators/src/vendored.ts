import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { PackageSource } from "./template.js";

/**
 * The tarball of a package in the folder `vendor` of the project that carries this package along, or `null` where it was
 * installed from a registry. Such a project was made from the repository, and what it makes carries the same tarballs:
 * no registry is asked for a name that may be somebody else's there.
 *
 * @param packageRoot the folder of this package, somewhere below `node_modules` of the project
 */
export function findVendored(packageRoot: string, name: string, version: string): PackageSource | null {
  const path = `vendor/${name}-${version}.tgz`;
  for (let folder = packageRoot; folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, path);
    if (existsSync(file)) {
      return { specifier: `file:${path}`, tarball: { path, read: async () => readFileSync(file) } };
    }
  }
  return null;
}
