import { dirname, relative, resolve, isAbsolute, sep } from "node:path";
import { Repository } from "./repository.js";

/**
 * The parent of a new project: `--into`, else the current folder. In a clone of tsgi's repository it is the parent of the
 * clone, because the tools of the clone would treat a project inside as a part of it.
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
