import type { HTTPScope } from "../asgi.js";
import { decodeLatin1 } from "../datastructures.js";

/** The segments of a path. */
function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "");
}

/**
 * What leads from a request's target up to where the application's own paths begin: `"./"` for `/docs`, `"../"` for
 * `/docs/` and for `/api/docs`. Relative, so that it holds below a mount and behind a proxy that cuts a prefix off.
 *
 * @param path - The route's own path, which the target ends with.
 */
export function upToRoot(scope: HTTPScope, path: string): string {
  const parts = (scope.raw_path ? decodeLatin1(scope.raw_path) : scope.path).split("/");
  let missing = segmentsOf(path).length;
  let index = parts.length;
  while (missing > 0 && index > 0) if (parts[--index] !== "") missing--;
  return "../".repeat(parts.length - 1 - index) || "./";
}

/** A path of the application, relative to where `upToRoot` leads, percent-encoded: `docs/x`. */
export function relativePath(path: string): string {
  return segmentsOf(path).map(encodeURIComponent).join("/");
}

/** The application's `root_path` as the path of a URL, without a slash at its end. */
export function rootPathOf(scope: HTTPScope): string {
  return encodeURI(scope.root_path ?? "")
    .replaceAll("%25", "%")
    .replace(/\/+$/, "");
}
