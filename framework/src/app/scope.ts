import type { HTTPScope } from "../asgi.js";
import { REQUEST } from "../logger.js";

/** A scope that says which request it is of. */
type Copy = HTTPScope & { [REQUEST]: object | null };

/**
 * A copy of a scope with its canonical path, the target as it came, and its App. Written field by field, because a
 * spread costs 1,300 ns on Node 20 and this 20. A server's or a middleware's own fields, under names that ASGI does not
 * have, are copied when there are any.
 */
export function copyScope(scope: HTTPScope, path: string, rawPath: Uint8Array | undefined, app: unknown): HTTPScope {
  const { asgi, http_version, method, scheme, query_string, root_path, headers } = scope;
  const { client, server, state, extensions } = scope;
  const copy: Copy = {
    type: "http",
    asgi,
    http_version,
    method,
    scheme,
    path,
    raw_path: rawPath,
    query_string,
    root_path,
    headers,
    client,
    server,
    state,
    extensions,
    app,
    [REQUEST]: null,
  };
  copy[REQUEST] = copy;
  let own = 0;
  for (const name in scope) own += name === "" ? 0 : 1;
  return own === countKnown(scope) ? copy : Object.assign(copy, { ...scope, path, raw_path: rawPath, app });
}

/** The number of ASGI's fields that the scope has. */
function countKnown(scope: HTTPScope): number {
  let count = 3;
  if (scope.asgi !== undefined) count++;
  if (scope.http_version !== undefined) count++;
  if (scope.scheme !== undefined) count++;
  if (scope.raw_path !== undefined) count++;
  if (scope.query_string !== undefined) count++;
  if (scope.root_path !== undefined) count++;
  if (scope.headers !== undefined) count++;
  if (scope.client !== undefined) count++;
  if (scope.server !== undefined) count++;
  if (scope.state !== undefined) count++;
  if (scope.extensions !== undefined) count++;
  return count;
}
