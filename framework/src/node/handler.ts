/** From a request of `node:http` to a call of the application. @module */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { ASGIApp } from "../asgi.js";
import { assertApplication } from "../callable.js";
import { consoleLogger, type Logger } from "../logger.js";
import { assertOptions, namesOf } from "../options.js";
import { Connection } from "./connection.js";
import { Exchange } from "./exchange.js";
import { bodyBytesOf } from "./framing.js";
import { ProtocolError } from "./errors.js";
import { endEmpty } from "./internals.js";
import { Refusal } from "./refusal.js";
import { type FirstUse, RequestBody } from "./request-body.js";
import { readHead, type RequestLimits } from "./request-head.js";
import { createScope } from "./request.js";
import { ServerRequest } from "./server-request.js";
import { Service } from "./service.js";
import { TrustedProxies } from "./trusted-proxies.js";
import { toRules, WebSocketGate, type WebSocketOptions } from "./websocket-gate.js";

/** What `toNodeHandler` can be told. */
export interface NodeHandlerOptions extends WebSocketOptions {
  /** Where errors go that the application lets escape. Defaults to readable lines on stderr. */
  logger?: Logger;
  /** What each scope gets a shallow copy of, for an application whose lifespan somebody else runs. Defaults to `{}`. */
  state?: Record<string, unknown>;
  /** The proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` count, as `serve` takes them. Defaults to none. */
  trustedProxies?: readonly string[];
}

/** A listener for requests; its method `upgrade` is the one for WebSockets. */
export interface NodeHandler extends RequestListener {
  /** A listener for the server's event `upgrade`. One for a server: it closes what is no WebSocket handshake. */
  readonly upgrade: (req: IncomingMessage, socket: Duplex, firstBytes: Buffer) => void;
}

const OPTIONS = namesOf<NodeHandlerOptions>({
  logger: true,
  state: true,
  trustedProxies: true,
  allowedHosts: true,
  allowedOrigins: true,
  webSocketCompression: true,
});

const EMPTY = Buffer.alloc(0);

/** Milliseconds between two pings, as `serve` has them by default. */
const PING_MS = 20_000;

/** The bounds of a request's head where nothing else is asked for. */
export const DEFAULT_REQUEST_LIMITS: RequestLimits = { targetBytes: 8192, headerBytes: 16_384, headerCount: 100 };

/**
 * Makes an ASGI application a listener for `http.createServer`, Express or supertest.
 *
 * It does not run the application's lifespan, and time-outs, `100 Continue` and the parser's limits are those of
 * whoever made the server. Under Express it belongs in front of body parsers; a prefix of `use` becomes `root_path`.
 * WebSockets are opened where its `upgrade` listens; they are the maker's to close when the server stops.
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { App } from "tsgi";
 * import { toNodeHandler } from "tsgi/node";
 *
 * const handler = toNodeHandler(new App());
 * createServer(handler).on("upgrade", handler.upgrade).listen(8000);
 * ```
 */
export function toNodeHandler(app: ASGIApp, options: NodeHandlerOptions = {}): NodeHandler {
  assertApplication("toNodeHandler()", app);
  assertOptions("toNodeHandler()", options, OPTIONS);
  const { logger = consoleLogger, state = {}, trustedProxies } = options;
  const proxies = trustedProxies === undefined ? null : new TrustedProxies(trustedProxies);
  const service = new Service(app, logger, state, DEFAULT_REQUEST_LIMITS, proxies);
  const gate = new WebSocketGate(service, toRules(options, PING_MS, null), null);
  const handle: RequestListener = (req, res) => handleRequest(service, req, res, false);
  return Object.assign(handle, {
    upgrade: (req: IncomingMessage, socket: Duplex, firstBytes: Buffer) =>
      gate.upgrade(req, socket as Socket, firstBytes),
  });
}

/** @param awaitsContinue - Whether the client waits for `100 Continue` before it sends the body. */
export function handleRequest(
  service: Service,
  req: IncomingMessage,
  res: ServerResponse,
  awaitsContinue: boolean,
): void {
  const connection = Connection.of(req.socket);
  if (connection.closing) {
    return;
  }
  const head = readHead(req, connection, service.limits);
  if (head instanceof Refusal) {
    refuse(connection, req, res, head);
  } else if (head.target === "*") {
    connection.rest();
    res.writeHead(204).end(); // RFC 9110 §9.3.7: a question to the server, not to a resource of the application
  } else {
    const scope = createScope(req, head, connection, service);
    const body = bodyOf(req, head.hasBody, awaitsContinue ? () => sendContinue(res) : null);
    new Exchange(service, connection, scope, body, res).run();
  }
}

function bodyOf(req: IncomingMessage, hasBody: boolean, onFirstUse: FirstUse | null): RequestBody {
  const announced = bodyBytesOf(req.headers);
  if (!(req instanceof ServerRequest)) return streamedBody(req, announced, onFirstUse);
  const body = new RequestBody(req, announced, onFirstUse);
  if (hasBody) req.body = body;
  else endEmpty(req);
  return body;
}

/** The body of a request of somebody else's server, whose stream may have been read. */
function streamedBody(req: IncomingMessage, announced: number, onFirstUse: FirstUse | null): RequestBody {
  const flow = {
    get complete() {
      return req.complete;
    },
    more: () => req.resume(),
  };
  const body = new RequestBody(flow, announced, () => {
    if (announced === 0) return null;
    if (req.readableDidRead) {
      return new ProtocolError("The body is already read: put this handler in front of body parsers.");
    }
    onFirstUse?.();
    req.on("data", (chunk: Buffer) => {
      if (!body.take(chunk, false)) req.pause();
    });
    req.on("end", () => body.take(EMPTY, true));
    return null;
  });
  return body;
}

function refuse(connection: Connection, req: IncomingMessage, res: ServerResponse, refusal: Refusal): void {
  req.resume();
  if (connection.calls.length > 0) {
    connection.refuse(refusal); // pipelined: the answers before it are not to say that the connection closes
  } else {
    connection.closeAfter(res);
    refusal.answer(res);
  }
}

function sendContinue(res: ServerResponse): null {
  if (!res.headersSent) {
    res.writeContinue();
  }
  return null;
}
