/** WebSockets on uWebSockets.js. @module */
import { EventEmitter } from "node:events";
import { Refusal } from "../refusal.js";
import { createScope } from "../request.js";
import { type ResponseOwner, ResponseWriter } from "../response.js";
import type { Service } from "../service.js";
import { maxMessageBytes, refusalOf, toWebSocketScope, type WebSocketRules } from "../websocket-gate.js";
import { type Acceptance, type OpenWebSocket, type PendingHandshake, WebSocketSession } from "../websocket-session.js";
import { UwsHead, type UwsHandler } from "./handler.js";
import { UwsLine } from "./line.js";
import type { UwsApp, UwsRequest, UwsResponse, UwsWebSocket } from "./module.js";
import { UwsSink } from "./response.js";

/** The longest message where neither server nor application says: uWebSockets has one bound for all connections. */
const MAX_MESSAGE_BYTES = 16 << 20;
/** What may wait for a slow application. uWebSockets cannot stop reading, so whoever sends more is closed (1008). */
const MAX_HELD_MESSAGES = 1024;
const MAX_HELD_BYTES = 4 << 20;
const POLICY_VIOLATION = 1008;
const TOO_BIG = 1009;

const draining = new Refusal(503, "The server is about to stop.");

/** uWebSockets copies the fields of what it is given onto its own object. */
interface UserData {
  peer: UwsSocket;
}

/** Serves the WebSockets of a server. */
export function serveWebSockets(app: UwsApp, service: Service, handler: UwsHandler, rules: WebSocketRules): void {
  app.ws<UserData>("/*", {
    maxPayloadLength: rules.maxMessageBytes ?? MAX_MESSAGE_BYTES,
    // uWebSockets pings in time for an answer before this; it takes 0, or 8 to 960 seconds.
    idleTimeout: rules.pingMs === 0 ? 0 : Math.min(Math.max(Math.ceil((2 * rules.pingMs) / 1000), 8), 960),
    sendPingsAutomatically: rules.pingMs > 0,
    maxBackpressure: 0, // the session waits instead
    compression: 0,
    upgrade: (res, req, context) => upgrade(res, req, context, service, handler, rules),
    open: (socket) => socket.getUserData().peer.opened(socket),
    message: (socket, message, isBinary) => socket.getUserData().peer.take(message, isBinary),
    drain: (socket) => socket.getUserData().peer.drained(),
    close: (socket, code, reason) => socket.getUserData().peer.closed(code, reason),
  });
}

function upgrade(
  res: UwsResponse,
  req: UwsRequest,
  context: unknown,
  service: Service,
  handler: UwsHandler,
  rules: WebSocketRules,
): void {
  const parsed = new UwsHead(req);
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  for (let index = 0; index < parsed.rawHeaders.length; index += 2) {
    headers[parsed.rawHeaders[index] as string] = parsed.rawHeaders[index + 1] as string;
  }
  const sink = new UwsSink(res);
  const head = handler.check(parsed);
  const { method, httpVersionMinor } = parsed;
  if (head instanceof Refusal) {
    head.answer(sink);
    return;
  }
  const refusal = service.draining ? draining : refusalOf({ method, httpVersionMinor, headers }, head, rules);
  if (refusal !== null) {
    refusal.answer(sink);
    return;
  }
  const { encrypted, server } = handler;
  const scope = createScope(parsed, head, { encrypted, server, client: sink.client.ask() }, service);
  const line = new UwsLine(sink, service.connections);
  const handshake = new UwsHandshake(res, sink, line, context, headers["sec-websocket-key"] ?? "", rules);
  const socketScope = toWebSocketScope(scope, headers);
  const session = new WebSocketSession(service, line, socketScope, handshake);
  sink.onAborted = () => session.disconnect();
  session.run(socketScope);
}

class UwsHandshake implements PendingHandshake {
  readonly #res: UwsResponse;
  readonly #sink: UwsSink;
  readonly #line: UwsLine;
  readonly #context: unknown;
  readonly #key: string;
  readonly #rules: WebSocketRules;

  constructor(res: UwsResponse, sink: UwsSink, line: UwsLine, context: unknown, key: string, rules: WebSocketRules) {
    this.#res = res;
    this.#sink = sink;
    this.#line = line;
    this.#context = context;
    this.#key = key;
    this.#rules = rules;
  }

  open({ subprotocol, headers, maxMessageBytes: wanted }: Acceptance): OpenWebSocket | null {
    if (this.#sink.destroyed) {
      return null;
    }
    const socket = new UwsSocket(this.#line, maxMessageBytes(this.#rules, wanted));
    this.#res.cork(() => {
      if (headers.length > 0) {
        this.#res.writeStatus("101 Switching Protocols");
      }
      for (const header of headers) {
        const colon = header.indexOf(":");
        this.#res.writeHeader(header.slice(0, colon), Buffer.from(header.slice(colon + 2), "latin1"));
      }
      this.#res.upgrade({ peer: socket }, this.#key, subprotocol ?? "", "", this.#context);
    });
    return socket;
  }

  refuse(refusal: Refusal): void {
    refusal.answer(this.#sink);
  }

  respond(owner: ResponseOwner, onFinish: () => void): ResponseWriter {
    this.#sink.once("finish", onFinish);
    return new ResponseWriter(this.#sink, false, owner, 0);
  }
}

/** An open WebSocket, as its session knows those of `ws`. */
class UwsSocket extends EventEmitter implements OpenWebSocket {
  isPaused = false;
  readonly #line: UwsLine;
  readonly #maxMessageBytes: number;
  #socket: UwsWebSocket<UserData> | null = null;
  #held: [message: Buffer, isBinary: boolean][] = [];
  #heldBytes = 0;
  /** Whoever waits for the socket to take what it was given. */
  #sending: ((error?: Error) => void)[] = [];

  constructor(line: UwsLine, maxBytes: number) {
    super();
    this.#line = line;
    this.#maxMessageBytes = maxBytes;
  }

  get bufferedAmount(): number {
    return this.#socket?.getBufferedAmount() ?? 0;
  }

  opened(socket: UwsWebSocket<UserData>): void {
    this.#socket = socket;
    this.#line.onDestroy = () => this.#socket?.close();
  }

  take(message: ArrayBuffer, isBinary: boolean): void {
    if (message.byteLength > this.#maxMessageBytes) {
      this.close(TOO_BIG);
      return;
    }
    const bytes = Buffer.from(new Uint8Array(message)); // a copy: the bytes are uWebSockets' own again after this
    if (!this.isPaused) {
      this.emit("message", bytes, isBinary);
      return;
    }
    this.#held.push([bytes, isBinary]);
    this.#heldBytes += bytes.length;
    if (this.#held.length > MAX_HELD_MESSAGES || this.#heldBytes > MAX_HELD_BYTES) {
      this.close(POLICY_VIOLATION, "Too many messages wait");
    }
  }

  drained(): void {
    const sending = this.#sending;
    this.#sending = [];
    for (const done of sending) {
      done();
    }
  }

  closed(code: number, reason: ArrayBuffer): void {
    this.#socket = null;
    this.#line.gone = true;
    const sending = this.#sending;
    this.#sending = [];
    for (const done of sending) {
      done(new Error("The WebSocket has closed."));
    }
    this.emit("close", code, Buffer.from(new Uint8Array(reason)));
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    while (!this.isPaused) {
      const held = this.#held.shift();
      if (held === undefined) {
        return;
      }
      this.#heldBytes -= held[0].length;
      this.emit("message", ...held);
    }
  }

  send(data: string | Uint8Array, done: (error?: Error) => void): void {
    const status = this.#socket?.send(data, typeof data !== "string") ?? 2;
    if (status === 0) {
      this.#sending.push(done);
    } else {
      done(status === 1 ? undefined : new Error("The WebSocket has closed."));
    }
  }

  close(code?: number, reason?: string): void {
    this.#socket?.end(code, reason);
  }
}
