import { dirname, relative, resolve, isAbsolute, sep } from "node:path";
import { Repository } from "./repository.js";

/**
 * The folder in which a project's own folder is made: the one of `--into`, else the current one. In a clone of tsgi's
 * repository it is the one around the clone, whose tools would check, format and publish a project inside as a part of it.
 */
export function parentFolder(into: string | undefined, packageRoot: string, current = process.cwd()): string {
  const root = Repository.find(packageRoot) === null ? null : dirname(packageRoot);
  if (into !== undefined || root === null) {
    return resolve(current, into ?? ".");
  }
  const path = relative(root, current);
  const isInside = !isAbsolute(path) && path.split(sep)[0] !== "..";
  return isInside ? dirname(root) : current;
}
