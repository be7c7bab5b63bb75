/** An application of another framework as an ASGI application. @module */
import { Server } from "node:http";
import { Server as TLSServer } from "node:https";
import type { ASGIApp } from "../../protocol/asgi.js";
import { unknownScope } from "../../common/exceptions.js";
import { hostedError } from "./from-node-handler/errors.js";
import { serveInner } from "./from-node-handler/exchange.js";
import { InnerServer, type NodeListener } from "./from-node-handler/inner-server.js";
import { passUpgrade } from "./from-node-handler/upgrade.js";

/** The runtime, if its `node:http` is not Node's. */
function foreignRuntime(): string | null {
  if (process.versions["bun"] !== undefined) return "Bun";
  return process.versions["deno"] === undefined ? null : "Deno";
}

/**
 * Makes a listener of `node:http` an ASGI application, to mount it: an Express, Connect, Koa (`callback()`), Nest or Fastify
 * (`routing`) application, the `middlewares` of Vite, or an `http.Server`, whose listeners of `request` and `upgrade` are
 * called.
 *
 * Each request has a connection in memory to a server of `node:http` that never listens, so the listener gets Node's own
 * objects. `req.url` is the path below the mount, `req.originalUrl` the whole one, and `req.baseUrl` the prefix.
 *
 * @throws ConfigurationError for anything but a listener or a server, and on other runtimes than Node.
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { fromNodeHandler } from "tsgi/node";
 *
 * const app = new App();
 * app.mount("/legacy", fromNodeHandler((req, res) => res.end(`old ${req.url}`)));
 * ```
 */
export function fromNodeHandler(listener: NodeListener): ASGIApp {
  const runtime = foreignRuntime();
  if (runtime !== null) throw hostedError("TSGI_NODE_LISTENER_PLATFORM", runtime);
  const given: unknown = listener;
  if (typeof given !== "function" && !(given instanceof Server) && !(given instanceof TLSServer)) {
    throw hostedError("TSGI_NOT_A_NODE_LISTENER", given);
  }
  const inner = new InnerServer(listener);
  return (scope, receive, send) => {
    if (scope.type === "http") return serveInner(inner, scope, { receive, send });
    if (scope.type === "websocket") return passUpgrade(inner, scope, { receive, send });
    return Promise.reject(unknownScope((scope as { type: unknown }).type, '"http" or "websocket"'));
  };
}
