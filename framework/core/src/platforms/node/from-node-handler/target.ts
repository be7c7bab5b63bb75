/** The paths of a mounted listener. @module */
import type { HTTPScope, WebSocketScope } from "../../../protocol/asgi.js";
import { splitPath } from "../../../protocol/path.js";
import { encodePath, rootPathOf, sentPath, sentQuery } from "../../../protocol/scope.js";
import type { MountedPaths } from "./inner-server.js";

type MountedScope = HTTPScope | WebSocketScope;

/** The path below the mount, as the client has sent it: as many segments are removed as the prefix has. */
function pathBelow(scope: MountedScope): string {
  const path = sentPath(scope);
  let rest = splitPath(rootPathOf(scope)).length;
  let index = 0;
  while (rest > 0 && index < path.length) {
    while (path[index] === "/") index++;
    while (index < path.length && path[index] !== "/") index++;
    rest--;
  }
  return path.slice(index) || "/";
}

/** The target below the mount. */
export function targetOf(scope: MountedScope): string {
  return pathBelow(scope) + sentQuery(scope);
}

/** The whole target, and the prefix of the mount. */
export function pathsOf(scope: MountedScope): MountedPaths {
  return { originalUrl: sentPath(scope) + sentQuery(scope), baseUrl: encodePath(rootPathOf(scope)) };
}
