/** WebSockets on uWebSockets.js. @module */
import type { HTTPScope } from "tsgi";
import {
  type Acceptance,
  CLOSE,
  createScope,
  ErrorResponse,
  Exchange,
  HeldMessages,
  maxMessageBytes,
  type OpenWebSocket,
  parseHandshake,
  type PendingHandshake,
  type ServerContext,
  toWebSocketScope,
  type WebSocketEvents,
  type WebSocketRules,
  WebSocketSession,
} from "tsgi/internals";
import type { UwsHandler } from "./handler.js";
import type { UwsApp, UwsRequest, UwsResponse, UwsWebSocket } from "./module.js";
import type { UwsStream } from "./stream.js";

/** The longest message where neither server nor application says: uWebSockets has one bound for all connections. */
const MAX_MESSAGE_BYTES = 16 << 20;
/** Messages that may wait for a slow application. uWebSockets cannot stop reading: a client that sends more is closed (1008). */
const HELD = { messages: 1024, bytes: 4 << 20 };

const draining = new ErrorResponse(503, "The server is about to stop.");

/** uWebSockets copies the fields of the given object onto its own. */
interface UserData {
  peer: UwsSocket;
}

/** Serves the WebSockets of a server. */
export function serveWebSockets(app: UwsApp, context: ServerContext, handler: UwsHandler, rules: WebSocketRules): void {
  app.ws<UserData>("/*", {
    maxPayloadLength: rules.maxMessageBytes ?? MAX_MESSAGE_BYTES,
    // uWebSockets sends pings early enough to receive a pong before this; it accepts 0, or 8 to 960 seconds.
    idleTimeout: rules.pingMs === 0 ? 0 : Math.min(Math.max(Math.ceil((2 * rules.pingMs) / 1000), 8), 960),
    sendPingsAutomatically: rules.pingMs > 0,
    maxBackpressure: 0, // the session waits instead
    compression: 0,
    upgrade: (res, req, socketContext) => upgrade(res, req, socketContext, context, handler, rules),
    open: (socket) => socket.getUserData().peer.opened(socket),
    message: (socket, message, isBinary) => socket.getUserData().peer.take(message, isBinary),
    drain: (socket) => socket.getUserData().peer.drained(),
    close: (socket, code, reason) => socket.getUserData().peer.closed(code, reason),
  });
}

function upgrade(
  res: UwsResponse,
  req: UwsRequest,
  socketContext: unknown,
  context: ServerContext,
  handler: UwsHandler,
  rules: WebSocketRules,
): void {
  const head = handler.readHead(req);
  const stream = handler.open(res);
  if (head instanceof ErrorResponse) {
    const refusal = head.as(context);
    stream.respond(refusal.head, refusal.body);
    return;
  }
  const handshake = context.draining ? draining : parseHandshake(head, rules, handler.encrypted);
  if (handshake instanceof ErrorResponse) {
    const refusal = handshake.as(context);
    stream.respond(refusal.head, refusal.body);
    return;
  }
  const { encrypted, server } = handler;
  const { method, target, section } = head;
  const requestHead = { httpVersion: "1.1", method, target, headers: section.headers };
  const scope = createScope(requestHead, { encrypted, server, client: stream.client.ask() }, context);
  const socketScope = toWebSocketScope(scope, handshake.subprotocols);
  const key = handshake.headers["sec-websocket-key"] ?? "";
  const pending = new UwsHandshake(res, stream, socketContext, context, scope, key, rules);
  const session = new WebSocketSession(context, stream, socketScope, pending);
  stream.onAborted = () => session.disconnect();
  void session.run(socketScope);
}

class UwsHandshake implements PendingHandshake {
  readonly #res: UwsResponse;
  readonly #stream: UwsStream;
  readonly #socketContext: unknown;
  readonly #context: ServerContext;
  readonly #scope: HTTPScope;
  readonly #key: string;
  readonly #rules: WebSocketRules;

  constructor(
    res: UwsResponse,
    stream: UwsStream,
    socketContext: unknown,
    context: ServerContext,
    scope: HTTPScope,
    key: string,
    rules: WebSocketRules,
  ) {
    this.#res = res;
    this.#stream = stream;
    this.#socketContext = socketContext;
    this.#context = context;
    this.#scope = scope;
    this.#key = key;
    this.#rules = rules;
  }

  open(acceptance: Acceptance, events: WebSocketEvents): OpenWebSocket | null {
    const { subprotocol, headers, maxMessageBytes: wanted } = acceptance;
    if (this.#stream.destroyed) return null;
    const socket = new UwsSocket(this.#stream, events, maxMessageBytes(this.#rules, wanted));
    this.#res.cork(() => {
      if (headers.length > 0) {
        this.#res.writeStatus("101 Switching Protocols");
      }
      for (let index = 0; index < headers.length; index += 2) {
        this.#res.writeHeader(headers[index] as string, Buffer.from(headers[index + 1] as string, "latin1"));
      }
      this.#res.upgrade({ peer: socket }, this.#key, subprotocol ?? "", "", this.#socketContext);
    });
    return socket;
  }

  refuse({ head, body }: ErrorResponse): void {
    this.#stream.respond(head, body);
  }

  respond(): Exchange {
    return new Exchange(this.#context, this.#stream, this.#scope, null);
  }
}

/** An open WebSocket. */
class UwsSocket implements OpenWebSocket {
  readonly #stream: UwsStream;
  readonly #events: WebSocketEvents;
  readonly #maxMessageBytes: number;
  #socket: UwsWebSocket<UserData> | null = null;
  readonly #messages: HeldMessages;
  /** Callbacks of sends that wait for the socket. */
  #sending: ((error?: Error) => void)[] = [];

  constructor(stream: UwsStream, events: WebSocketEvents, maxBytes: number) {
    this.#stream = stream;
    this.#events = events;
    this.#maxMessageBytes = maxBytes;
    this.#messages = new HeldMessages(HELD, (data) => events.messaged(data));
  }

  get isPaused(): boolean {
    return this.#messages.isPaused;
  }

  get bufferedAmount(): number {
    return this.#socket?.getBufferedAmount() ?? 0;
  }

  opened(socket: UwsWebSocket<UserData>): void {
    this.#socket = socket;
    this.#stream.onDestroy = () => this.#socket?.close();
  }

  take(message: ArrayBuffer, isBinary: boolean): void {
    if (message.byteLength > this.#maxMessageBytes) {
      this.close(CLOSE.tooBig);
      return;
    }
    const bytes = Buffer.from(new Uint8Array(message)); // a copy: the bytes are uWebSockets' own again after this
    const isHeld = this.#messages.take(isBinary ? bytes : bytes.toString());
    if (!isHeld) this.close(CLOSE.policyViolation, "Too many messages wait");
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
    this.#stream.closed();
    const sending = this.#sending;
    this.#sending = [];
    for (const done of sending) {
      done(new Error("The WebSocket has closed."));
    }
    this.#events.closed(code, Buffer.from(reason).toString());
  }

  pause(): void {
    this.#messages.isPaused = true;
  }

  resume(): void {
    this.#messages.resume();
  }

  write(data: string | Uint8Array, done: ((error?: Error) => void) | null): void {
    const status = this.#socket?.send(data, typeof data !== "string") ?? 2;
    if (done === null) return;
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
