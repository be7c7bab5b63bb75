/** Where an application stands in a path. @module */
import type { HTTPScope, WebSocketScope } from "../asgi.js";

/** The prefix under which an application is mounted, without a slash at its end. */
export function rootPathOf(scope: HTTPScope | WebSocketScope): string {
  const root = scope.root_path ?? "";
  return root.endsWith("/") ? root.slice(0, -1) : root;
}

/** Whether a path is a prefix's own or below it. */
export function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === "/");
}

/** The path below `root_path`. Where a server's `root_path` is not part of the path, the whole path. */
export function localPath(scope: HTTPScope | WebSocketScope): string {
  const root = scope.root_path;
  if (root === undefined || root === "") return scope.path;
  const prefix = rootPathOf(scope);
  return isBelow(scope.path, prefix) ? scope.path.slice(prefix.length) || "/" : scope.path;
}
