/** The paths of an App, for a server that passes the other requests on. @module */
import type { ASGIApp } from "../protocol/asgi.js";
import { HAS_PATH, type HasPath } from "../protocol/callable.js";
import { isBelow } from "../protocol/scope.js";
import { WEBSOCKET } from "../routing/router.js";

/** The routes and mounts of an App. */
export interface KnownRoutes {
  readonly mounts: readonly { readonly prefix: string }[];
  readonly router: { allowedMethods(path: string): readonly string[] };
  readonly sockets: { resolve(method: string, path: string): unknown };
}

/** The pages of the documentation of an App. */
export interface KnownPages {
  readonly entries: readonly { readonly pattern: { readonly template: string } }[];
}

/**
 * Lets a server test the paths of an App: the registered paths at the time of the test, and the paths of the documentation, which are
 * registered later.
 */
export function keepPathTest(app: ASGIApp, { mounts, router, sockets }: KnownRoutes, documentation: KnownPages): void {
  let pages: ReadonlySet<string> | null = null;
  const hasPath: HasPath = (type, path, method) => {
    if (mounts.some(({ prefix }) => isBelow(path, prefix))) return true;
    if (type === "websocket") return sockets.resolve(WEBSOCKET, path) !== null;
    pages ??= new Set(documentation.entries.map(({ pattern }) => pattern.template));
    if (pages.has(path)) return true;
    const methods = router.allowedMethods(path);
    return method === undefined ? methods.length > 0 : methods.includes(method);
  };
  Object.defineProperty(app, HAS_PATH, { value: hasPath });
}
