/** The engine for existing servers of `node:http`. @module */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { configurationError } from "../../common/exceptions.js";
import { guardLogger, type Logger, loggerOf } from "../../common/logger.js";
import { assertOptions, expecting, MILLISECONDS, OBJECT, oneOf, type OptionRules } from "../../common/options.js";
import type { ASGIApp } from "../../protocol/asgi.js";
import { assertApplication, hasPathOf } from "../../protocol/callable.js";
import type { CloseOptions } from "../../protocol/shutdown.js";
import { HostedApplication } from "./node-handler/hosted-application.js";
import { type Next, NodeResponse } from "./node-handler/node-response.js";
import { canonicalPrefix, pathBelow, type HostedPlace, hostedPlaceOf } from "./node-handler/place.js";
import { ELSEWHERE, handleRequest } from "./node-handler/request.js";
import { HostedWebSockets } from "./node-handler/web-sockets.js";
import { PROXY_OPTIONS, proxiesOf, type ProxyOptions } from "./trusted-proxies.js";
import { HANDSHAKE_OPTIONS, type SocketServerOptions } from "./websocket/handshake-rules.js";

/** Options of `toNodeHandler`. */
export interface NodeHandlerOptions extends SocketServerOptions, ProxyOptions {
  /** Logger of errors that escape the application. Defaults to the logger of an App, else to readable lines on stderr. */
  logger?: Logger;
  /** First state of the lifespan; each scope gets a shallow copy. Defaults to `{}`. */
  state?: Record<string, unknown>;
  /**
   * `"auto"`: the application is started before the first request; `"off"`: other code starts it. Defaults to `"auto"`.
   */
  lifespan?: "auto" | "off";
  /**
   * Calls `next` for a request whose path has no route, mount or documentation page of the App, and does not touch the sockets
   * of such upgrades. `"methods"` also does so if the routes of the path have other methods. Only for an `App`. Defaults to
   * `false`: the App responds with its 404 or 405.
   */
  fallthrough?: boolean | "methods";
  /**
   * `"next"` passes an unexpected error to the error middleware of the host, instead of responding with 500. Defaults to
   * `"respond"`.
   */
  onError?: "respond" | "next";
  /**
   * The path of the application, if the host keeps it in `req.url` and does not set `req.originalUrl`, as for upgrades. It
   * becomes `root_path`, and other paths do not reach the application.
   */
  prefix?: string;
}

/** A listener for requests and upgrades, which starts and stops its application. */
export interface NodeHandler {
  /** @param next - Passed by Express, Connect and others: see `fallthrough` and `onError`. */
  (req: IncomingMessage, res: ServerResponse, next?: Next): void;
  /**
   * A listener for the server's event `upgrade`.
   *
   * @returns `false` if the socket is for other listeners, which only happens with `fallthrough`.
   */
  readonly upgrade: (req: IncomingMessage, socket: Duplex, firstBytes: Buffer) => boolean;
  /**
   * Starts the application before its first request. Later calls return when it has started.
   *
   * @throws ServerStartError if the startup of the application fails.
   */
  readonly start: () => Promise<void>;
  /**
   * Waits for the requests that run, closes the WebSockets with 1012, and ends the lifespan. Later requests get 503.
   *
   * @throws ShutdownTimeoutError when that takes longer than `timeoutMs`: the responses that still run are cut then.
   * @throws Error if the application's shutdown fails.
   */
  readonly close: (options?: CloseOptions) => Promise<void>;
}

const OPTIONS: OptionRules<NodeHandlerOptions> = {
  ...HANDSHAKE_OPTIONS,
  ...PROXY_OPTIONS,
  logger: OBJECT,
  state: OBJECT,
  lifespan: oneOf("auto", "off"),
  fallthrough: oneOf(true, false, "methods"),
  onError: oneOf("respond", "next"),
  prefix: expecting(
    'a path such as "/api"',
    (value) => typeof value === "string" && /^\/[^?#]*$/.test(value) && canonicalPrefix(value) !== null,
  ),
};

/** Milliseconds that `close` takes at most, as `serve` does by default. */
const CLOSE_MS = 10_000;

/**
 * Makes an ASGI application a listener for `http.createServer`, Express, Connect, Fastify's `@fastify/middie`, Nest, Vite or
 * supertest.
 *
 * The lifespan starts before the first request, and `close` ends it. A prefix of the host becomes `root_path`, and a body that
 * a parser of the host has read is used. Timeouts, `100 Continue` and the limits of the parser are the server's. WebSockets
 * are opened if its `upgrade` listens.
 *
 * @throws ConfigurationError for anything but an application, for an unknown option, and for `fallthrough` with an application
 *   that is not an `App`.
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { App } from "tsgi";
 * import { toNodeHandler } from "tsgi/node";
 *
 * const handler = toNodeHandler(new App());
 * const server = createServer(handler).on("upgrade", handler.upgrade).listen(8000);
 * process.once("SIGTERM", async () => {
 *   await handler.close();
 *   server.close();
 * });
 * ```
 */
export function toNodeHandler(app: ASGIApp, options: NodeHandlerOptions = {}): NodeHandler {
  assertApplication("toNodeHandler()", app);
  assertOptions("toNodeHandler()", options, OPTIONS);
  const { state = {}, lifespan = "auto", fallthrough = false, onError = "respond" } = options;
  const logger = guardLogger(options.logger ?? loggerOf(app));
  const hosted = new HostedApplication(app, {
    logger,
    state,
    proxies: proxiesOf(options),
    hasLifespan: lifespan === "auto",
  });
  const isOther = fallthrough === false ? () => false : createOtherTest(app, fallthrough === "methods");
  const prefix = canonicalPrefix(options.prefix ?? "/") ?? "";
  const webSockets = new HostedWebSockets(options);
  const handle = (req: IncomingMessage, res: ServerResponse, next?: Next): void => {
    if (res.headersSent) return; // the host has responded
    const place = hostedPlaceOf(req, prefix);
    if (next !== undefined && isOther(place, "http", methodOf(req))) return next();
    const response = new NodeResponse(req, res, onError === "next" ? (next ?? null) : null);
    hosted.use((context, refusal) => {
      // The client may have disconnected meanwhile, or while middleware ran before this handler: its events have fired.
      if (response.destroyed) return;
      if (refusal !== null || place === null) response.refuse((refusal ?? ELSEWHERE).as(context));
      else handleRequest(context, { req, res, response, place });
    });
  };
  return Object.assign(handle, {
    upgrade: (req: IncomingMessage, socket: Duplex, firstBytes: Buffer) => {
      const place = hostedPlaceOf(req, prefix);
      if (isOther(place, "websocket")) return false;
      socket.on("error", () => {}); // a client that resets the connection while the application starts
      hosted.use((context, refusal) => {
        const handshake = { req, socket: socket as Socket, firstBytes, place };
        if (!socket.destroyed) webSockets.open(context, handshake, refusal);
      });
      return true;
    },
    start: () => hosted.start(),
    close: async ({ timeoutMs = CLOSE_MS }: CloseOptions = {}) => {
      MILLISECONDS("close()", "timeoutMs", timeoutMs);
      await hosted.close(timeoutMs, () => webSockets.cut());
    },
  });
}

/** The method that a request is for: a preflight request asks about another one. */
function methodOf({ method, headers }: IncomingMessage): string | undefined {
  return (method === "OPTIONS" ? headers["access-control-request-method"] : undefined) ?? method;
}

/** Makes a test for the requests that are not for the application. */
function createOtherTest(
  app: ASGIApp,
  byMethod: boolean,
): (place: HostedPlace | null, type: "http" | "websocket", method?: string) => boolean {
  const hasPath = hasPathOf(app);
  if (hasPath === null) {
    const expected = "false for an application that is not an App: only an App knows its paths";
    throw configurationError("TSGI_INVALID_OPTION", "toNodeHandler()", "fallthrough", expected, true);
  }
  return (place, type, method) => {
    const path = place === null ? null : pathBelow(place, type);
    return path === null || !hasPath(type, path, byMethod ? method : undefined);
  };
}
