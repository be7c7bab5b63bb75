/** From a request of `node:http` to a call of the application. @module */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { ASGIApp } from "../asgi.js";
import { Connection } from "./connection.js";
import { Exchange } from "./exchange.js";
import { stderrLogger, type ServerLogger } from "./logger.js";
import { createScope, targetOf } from "./request.js";
import { Service, type RequestLimits } from "./service.js";

/** What `toNodeHandler` can be told. */
export interface NodeHandlerOptions {
  /** Where errors go that the application lets escape. Defaults to readable lines on stderr. */
  logger?: ServerLogger;
  /** What each scope gets a shallow copy of, for an application whose lifespan somebody else runs. Defaults to `{}`. */
  state?: Record<string, unknown>;
}

/** The bounds of a request's head where nothing else is asked for. */
export const DEFAULT_REQUEST_LIMITS: RequestLimits = { targetBytes: 8192, headerBytes: 16_384, headerCount: 100 };

/**
 * Makes an ASGI application a listener for `http.createServer`, Express or supertest.
 *
 * It does not run the application's lifespan, and the server's own limits and time-outs are those of whoever made the
 * server. Under Express it belongs in front of body parsers; a prefix of `use` becomes `root_path`.
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { toNodeHandler } from "tsgi/node";
 *
 * createServer(toNodeHandler(app)).listen(8000);
 * ```
 */
export function toNodeHandler(app: ASGIApp, options: NodeHandlerOptions = {}): RequestListener {
  const service = new Service(app, options.logger ?? stderrLogger, options.state ?? {}, DEFAULT_REQUEST_LIMITS);
  return (req, res) => handleRequest(service, req, res);
}

/** Answers one request. */
export function handleRequest(service: Service, req: IncomingMessage, res: ServerResponse): void {
  const connection = Connection.of(req.socket);
  const scope = createScope(req, connection, targetOf(req), req.rawHeaders, service.state);
  const hasBody = req.headers["content-length"] !== undefined || req.headers["transfer-encoding"] !== undefined;
  new Exchange(service, connection, scope, req, res, hasBody && req.headers["content-length"] !== "0").run();
}
