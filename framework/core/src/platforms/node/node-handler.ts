/** The engine for existing servers of `node:http`. @module */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { clearTimeout, setTimeout } from "../../common/timers.js";
import type { ASGIApp } from "../../protocol/asgi.js";
import { assertApplication } from "../../protocol/callable.js";
import { consoleLogger, guardLogger, type Logger } from "../../common/logger.js";
import { assertOptions, OBJECT, type OptionRules } from "../../common/options.js";
import { ServerContext } from "../../protocol/server-context.js";
import type { ResponseStream } from "../../protocol/engine.js";
import { type BodyFlow, RequestBody } from "../../protocol/request-body.js";
import { ErrorResponse } from "../../protocol/error-response.js";
import { textAt } from "../../protocol/header-list.js";
import { ProtocolError } from "../../common/exceptions.js";
import { Exchange } from "../../protocol/exchange.js";
import { cutConnection } from "./cut-connection.js";
import { Connection } from "./http1/connection.js";
import { createHeadEnd } from "./http1/output.js";
import { DEFAULT_REQUEST_LIMITS } from "./header-section.js";
import { type ServerResponseHead, SERVER_OPTIONS } from "../../protocol/response.js";
import { createScope } from "../../protocol/scope.js";
import { socketEndpoints } from "./server-settings.js";
import { SlowSocket } from "./slow-reader.js";
import { SlowResponses, type WaitingResponse } from "./slow-responses.js";
import { checkTarget, createHead, type RequestHead } from "./request-head.js";
import { PROXY_OPTIONS, proxiesOf, type ProxyOptions } from "./trusted-proxies.js";
import { toRules, HANDSHAKE_OPTIONS, type SocketServerOptions } from "./websocket/handshake-rules.js";
import { UpgradeHandler } from "./websocket/upgrade.js";

/** Options of `toNodeHandler`. */
export interface NodeHandlerOptions extends SocketServerOptions, ProxyOptions {
  /** The log of errors that the application lets escape. Defaults to readable lines on stderr. */
  logger?: Logger;
  /** State of which each scope gets a shallow copy, for an application whose lifespan runs elsewhere. Defaults to `{}`. */
  state?: Record<string, unknown>;
}

/** A listener for requests; its method `upgrade` is the one for WebSockets. */
export interface NodeHandler extends RequestListener {
  /**
   * A listener for the server's event `upgrade`. One per server: it closes upgrades that are not WebSocket handshakes.
   */
  readonly upgrade: (req: IncomingMessage, socket: Duplex, firstBytes: Buffer) => void;
}

const OPTIONS: OptionRules<NodeHandlerOptions> = {
  ...HANDSHAKE_OPTIONS,
  ...PROXY_OPTIONS,
  logger: OBJECT,
  state: OBJECT,
};

/** Milliseconds between two pings, as `serve` has them by default. */
const PING_MS = 20_000;
/** Milliseconds for which the socket of a refused upgrade is kept for its client to end it. */
const LINGER_MS = 1000;
/** Bytes of an unread body that are let pass so that the connection can be kept. */
const MAX_DISCARDED_BYTES = 65_536;

/** Headers of which the host's lines are sent too. */
const SHARED: ReadonlySet<string> = new Set(["link", "set-cookie", "vary"]);

function isLength(name: string): boolean {
  return name.length === 14 && name.toLowerCase() === "content-length";
}

/** `requestTimeout` of a server of `node:http` by default. */
const REQUEST_MS = 300_000;

const EMPTY = Buffer.alloc(0);
const slowResponses = new SlowResponses();
const noUpgrade = new ErrorResponse(400, "Expected Upgrade: websocket.");

/**
 * Makes an ASGI application a listener for `http.createServer`, Express or supertest.
 *
 * It does not run the application's lifespan, and timeouts, `100 Continue` and the parser's limits are those of the
 * server. In Express, install it before body parsers; a prefix of `use` becomes `root_path`. WebSockets are opened
 * where its `upgrade` listens; the code that made the server closes them when it stops.
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
  const { logger = consoleLogger, state = {} } = options;
  const proxies = proxiesOf(options);
  const context = new ServerContext(app, guardLogger(logger), { state, proxies });
  const upgrades = new UpgradeHandler(context, toRules(options, PING_MS, null));
  const settings = {
    context,
    limits: DEFAULT_REQUEST_LIMITS,
    timeouts: { headersMs: 0, requestMs: 0, keepAliveMs: 0, webSocketPingMs: PING_MS },
    headEnd: createHeadEnd(0),
    checkIntervalMs: 0,
    now: 0,
    waitingBytes: 0,
    isCrowded: false,
    acceptHTTP2: null,
    wake: () => {},
    upgrade: (connection: Connection, head: RequestHead) => upgrades.upgrade(connection, head),
  };
  const handle: RequestListener = (req, res) => handleRequest(context, req, res);
  return Object.assign(handle, {
    upgrade: (req: IncomingMessage, socket: Duplex, firstBytes: Buffer) => {
      if (socket.destroyed) return; // its events are past
      // Documented as a Duplex; on a server of node:http or node:https it is a socket.
      const connection = new Connection(socket as Socket, null, settings);
      socket.once("finish", () => destroyLater(socket));
      const head = readHead(req);
      if (head instanceof ErrorResponse) connection.refuse(head);
      else if (!head.section.upgrade) connection.refuse(noUpgrade);
      else connection.adopt(head, firstBytes);
    },
  });
}

/** A client that has its last response may end its own side for a moment: RFC 9112 §9.6. */
function destroyLater(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(timer));
}

/** A request that Express hands on under a prefix. */
interface MountedRequest extends IncomingMessage {
  originalUrl?: string;
  baseUrl?: string;
}

function readHead(req: MountedRequest): RequestHead | ErrorResponse {
  const target = req.originalUrl ?? req.url ?? "";
  const limits = DEFAULT_REQUEST_LIMITS;
  const { method = "GET", httpVersionMinor, rawHeaders } = req;
  return checkTarget(target, limits) ?? createHead(method, target, httpVersionMinor, rawHeaders, limits);
}

/** The functions to call when a socket closes. */
const onClosed = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls a function once the socket has closed. A response to a pipelined request has no separate events while the
 * earlier ones are sent. The listener is one for all requests of a socket.
 *
 * @returns Forgets the function.
 */
function whenClosed(socket: Socket, call: () => void): () => void {
  let calls = onClosed.get(socket);
  if (calls === undefined) {
    const all = (calls = new Set());
    onClosed.set(socket, all);
    socket.once("close", () => {
      for (const each of all) each();
    });
  }
  calls.add(call);
  return () => void calls.delete(call);
}

function handleRequest(context: ServerContext, req: MountedRequest, res: ServerResponse): void {
  const response = new NodeResponse(req, res);
  // The client may have disconnected while middleware ran before this handler: its events have already fired.
  if (response.destroyed) return;
  const head = readHead(req);
  if (head instanceof ErrorResponse) {
    const refusal = head.as(context);
    response.respond(refusal.head, refusal.body);
    return;
  }
  if (head.target === "*") {
    response.respond(SERVER_OPTIONS, EMPTY);
    return;
  }
  const { method, target, section } = head;
  const { headers, content, bodyBytes } = section;
  const requestHead = { httpVersion: req.httpVersion, method, target, headers, content };
  const scope = createScope(requestHead, socketEndpoints(req.socket, null), context);
  scope.root_path = req.baseUrl ?? "";
  const body = bodyBytes === 0 ? null : new RequestBody(response, bodyBytes);
  response.body = body;
  response.bodyBytes = bodyBytes;
  const exchange = new Exchange(context, response, scope, body);
  const leave = () => {
    forget();
    exchange.disconnect();
    response.settle();
  };
  const forget = whenClosed(req.socket, leave);
  res.on("close", leave);
  void exchange.run();
}

/** The response to a request of `node:http`, and the source of its body. */
class NodeResponse implements ResponseStream, BodyFlow, WaitingResponse {
  body: RequestBody | null = null;
  /** Bytes of the body; `NaN` if the length is unknown. */
  bodyBytes = 0;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  #received = 0;
  /** `true` once the application has asked for the body. */
  #isReading = false;
  /** The end of the connection is the end of the body, as `node:http` sends a stream on HTTP/1.0. */
  #endsWithConnection = false;
  /** `null` while no bytes have waited for the client at a check. */
  #reader: SlowSocket | null = null;
  /** The callers of `flushed`; `null` until the first call. */
  #waiting: (() => void)[] | null = null;

  constructor(req: IncomingMessage, res: ServerResponse) {
    this.#req = req;
    this.#res = res;
  }

  get destroyed(): boolean {
    return this.#res.destroyed || this.#req.socket.destroyed;
  }

  respond(head: ServerResponseHead, body: Uint8Array | string): void {
    this.begin(head);
    if (body.length === 0) this.#res.end();
    else if (typeof body !== "string") this.#res.end(body);
    // Node joins text with the head, and encodes both alike: the text is ASCII, and the head is latin-1.
    else this.#res.end(body, "latin1");
    this.#completed();
  }

  begin(head: ServerResponseHead): void {
    const res = this.#res;
    const { raw } = head.headers;
    if (res.getHeaderNames().length > 0) this.#replace(raw);
    // Not as arguments of `writeHead`: it replaces repeated names, and wrappers of it expect other forms.
    for (let index = 0; index < raw.length; index += 2) {
      const name = textAt(raw, index);
      if (!isLength(name)) res.appendHeader(name, textAt(raw, index + 1));
    }
    // Last: Node cannot send latin-1 in a `Content-Disposition` after the length.
    if (head.contentLength !== -1) res.setHeader("content-length", head.contentLength);
    if (head.headers.close || this.#outstanding > MAX_DISCARDED_BYTES) res.setHeader("connection", "close");
    this.#endsWithConnection = head.contentLength === -1 && this.#req.httpVersion === "1.0";
    res.writeHead(head.status);
  }

  /** Removes the headers that the host has set and the application sends. */
  #replace(raw: readonly string[]): void {
    this.#res.removeHeader("content-length");
    for (let index = 0; index < raw.length; index += 2) {
      const name = textAt(raw, index);
      if (!SHARED.has(name.toLowerCase())) this.#res.removeHeader(name);
    }
  }

  write(chunk: Uint8Array): boolean {
    if (chunk.length === 0) {
      this.#res.flushHeaders();
      return true;
    }
    const accepts = this.#res.write(chunk);
    if (!accepts) slowResponses.add(this);
    return accepts;
  }

  end(): void {
    this.#res.end();
    this.#completed();
  }

  #completed(): void {
    this.body = null;
    this.#req.resume();
    if (this.#res.writableLength > 0) slowResponses.add(this);
  }

  get waitingBytes(): number {
    return this.#res.writableFinished ? 0 : this.#res.writableLength;
  }

  isLate(now: number, isCrowded: boolean): boolean {
    const server: unknown = Reflect.get(this.#req.socket, "server");
    const { requestTimeout } = Object(server) as { requestTimeout?: unknown };
    const requestMs = typeof requestTimeout === "number" ? requestTimeout : REQUEST_MS;
    return (this.#reader ??= new SlowSocket(this.#req.socket)).isLate(this.waitingBytes, now, requestMs, isCrowded);
  }

  flushed(): Promise<void> | undefined {
    const res = this.#res;
    if (this.destroyed || res.writableLength === 0) return undefined;
    if (this.#waiting === null) {
      this.#waiting = [];
      for (const event of ["drain", "finish"]) res.on(event, () => this.settle());
    }
    return new Promise((resolve) => this.#waiting?.push(resolve));
  }

  /** The client has read the written data, or has disconnected. */
  settle(): void {
    if (this.#res.writableEnded && !this.#res.writableFinished && !this.destroyed && !this.#res.closed) return;
    const waiting = this.#waiting ?? [];
    if (this.#waiting !== null) this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  destroy(): void {
    if (this.#endsWithConnection && !this.destroyed) cutConnection(this.#req.socket);
    this.#res.destroy();
  }

  want(): Error | null {
    if (this.#isReading) return null;
    if (this.#req.readableDidRead) {
      return new ProtocolError("The body was already read: install this handler before body parsers.");
    }
    this.#isReading = true;
    this.#req.on("data", (chunk: Buffer) => {
      this.#received += chunk.length;
      if (this.body?.take(chunk, this.#received === this.bodyBytes) === false) this.#req.pause();
    });
    this.#req.on("end", () => this.body?.take(EMPTY, true));
    return null;
  }

  resume(): void {
    this.#req.resume();
  }

  /** Bytes of the body that may still arrive: `Infinity` if the length is unknown. */
  get #outstanding(): number {
    if (this.#req.complete) return 0;
    return Number.isNaN(this.bodyBytes) ? Infinity : this.bodyBytes - this.#received;
  }
}
