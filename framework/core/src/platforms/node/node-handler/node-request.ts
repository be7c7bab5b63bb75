/** The request of `node:http` behind a request of an application. @module */
import type { IncomingMessage } from "node:http";
import type { HTTPScope } from "../../../protocol/asgi.js";
import type { HTTPConnection } from "../../../http/request.js";

/** The extension with which `toNodeHandler` passes the request of its host. */
const EXTENSION = "tsgi.node";

/** The extension of the scope of a request. */
export function nodeExtension(request: IncomingMessage): NonNullable<HTTPScope["extensions"]> {
  return { [EXTENSION]: { request } };
}

/**
 * The request of the server around `toNodeHandler`, with everything that its middleware has added to it.
 *
 * @typeParam T - What the middleware adds.
 * @param connection - The `Request` or `WebSocket` of a handler or a dependency.
 * @returns `null` on another server, for example in tests that call the App itself.
 * @example
 * ```ts
 * import { App, HTTPException, Request } from "tsgi";
 * import { nodeRequest } from "tsgi/node";
 *
 * const app = new App();
 * app.get("/me", { params: { request: Request } }, async ({ request }) => {
 *   const user = nodeRequest<{ user?: { name: string } }>(request)?.user;
 *   if (user === undefined) throw new HTTPException(401);
 *   return user.name;
 * });
 * ```
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows the middleware of its host
export function nodeRequest<T = unknown>(connection: HTTPConnection): (IncomingMessage & T) | null {
  const extension = connection.scope.extensions?.[EXTENSION] as { readonly request: IncomingMessage & T } | undefined;
  return extension?.request ?? null;
}
