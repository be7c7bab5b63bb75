/** One WebSocket between a driver and the application: the state machine of ASGI's WebSocket messages. @module */
import type {
  SendMessage,
  WebSocketAcceptMessage,
  WebSocketCloseMessage,
  WebSocketHTTPResponseBodyMessage,
  WebSocketHTTPResponseStartMessage,
  WebSocketScope,
  WebSocketSendMessage,
  ReceiveMessage,
} from "./asgi.js";
import { ClientDisconnect, findCloseFault, ProtocolError } from "../common/exceptions.js";
import { markHandled, nextTurn } from "../common/promises.js";
import {
  type Acceptance,
  acceptedHeaders,
  CLOSE,
  type OpenWebSocket,
  type PendingHandshake,
  type Refusal,
  type WebSocketEvents,
} from "./websocket-handshake.js";
import type { ConnectionHandle } from "./engine.js";
import { ErrorResponse } from "./error-response.js";
import type { Exchange } from "./exchange.js";
import type { ServedCall, ServerContext } from "./server-context.js";
import { MessageQueue } from "./message-queue.js";

/** The state of a WebSocket. `responding`: the application rejects it with an HTTP response. */
type Phase = "connecting" | "responding" | "open" | "closing" | "closed";

/** Bytes that wait for the socket before `send` asks to wait as well: a stream's usual high-water mark. */
const MAX_BUFFERED_BYTES = 65_536;

/**
 * Bytes, and messages with a fixed size each, after which a sender yields: a client that reads fast enough never makes
 * it wait, and a sender in a loop blocked the event loop for 0.8 s and used 1 GB.
 */
const MAX_TURN_BYTES = 1 << 20;
const BYTES_PER_MESSAGE = 256;

const errors = { forbidden: new ErrorResponse(403), failed: new ErrorResponse(500), draining: new ErrorResponse(503) };

/** Calls the application for one WebSocket. */
export class WebSocketSession implements ServedCall, WebSocketEvents {
  /** The part of the scope that is needed later: an idle WebSocket would keep the whole of it. */
  readonly #path: string;
  readonly #subprotocols: readonly string[];
  readonly #context: ServerContext;
  readonly #connection: ConnectionHandle;
  /** `null` once it has its response: an idle WebSocket would keep the whole request in memory. */
  #handshake: PendingHandshake | null;
  #phase: Phase = "connecting";
  #webSocket: OpenWebSocket | null = null;
  #response: Exchange | null = null;
  readonly #inbox = new WebSocketInbox();
  /** The close code of this side, if it ends the connection for a violation of a rule, or 0. */
  #violation = 0;
  /** `true` after the application has closed or rejected: its errors are then not those of a disconnected client. */
  #hasEnded = false;
  /** Bytes sent in this turn of the event loop. */
  #turnBytes = 0;

  constructor(
    context: ServerContext,
    connection: ConnectionHandle,
    { path, subprotocols = [] }: WebSocketScope,
    handshake: PendingHandshake,
  ) {
    this.#path = path;
    this.#subprotocols = subprotocols;
    this.#context = context;
    this.#connection = connection;
    this.#handshake = handshake;
  }

  get name(): string {
    return `WebSocket ${this.#path}`;
  }

  /** Calls the application. Resolves, never with an error, once it has settled. */
  run(scope: WebSocketScope): Promise<void> {
    return this.#context.run(
      this,
      scope,
      () => this.#inbox.receive(),
      (message) => this.#send(message),
    );
  }

  whenEnded(callBack: () => void): void {
    this.#inbox.whenEnded(callBack);
  }

  /** The client has disconnected. */
  disconnect(): void {
    this.#response?.disconnect();
    if (this.#webSocket === null) this.#inbox.end(CLOSE.abnormal, "");
  }

  drain(): void {
    if (this.#phase === "connecting") this.refuse(errors.draining, { code: CLOSE.restart });
    this.#webSocket?.close(CLOSE.restart, "The server is about to stop");
    this.#inbox.end(CLOSE.restart, "");
  }

  cutUnread(graceMs: number): void {
    this.#response?.cutUnread(graceMs);
  }

  cut(): void {
    this.#response?.cut();
  }

  refuse(error: ErrorResponse, refusal: Refusal = {}): void {
    if (this.#phase === "connecting") {
      this.#phase = "closed";
      this.#handshake?.refuse(error.as(this.#context), refusal);
      this.#handshake = null;
    }
    this.#inbox.end(CLOSE.abnormal, "");
  }

  #send(message: SendMessage): Promise<void> | void {
    if (this.#response?.complete) return; // ASGI: messages after the last body are ignored
    switch (message.type) {
      case "websocket.accept":
        return this.#accept(message);
      case "websocket.send":
        return this.#write(message);
      case "websocket.close":
        return this.#close(message);
      case "websocket.http.response.start":
      case "websocket.http.response.body":
        return this.#respond(message);
      default:
        throw new ProtocolError(`Expected a message of the WebSocket protocol, not "${message.type}".`);
    }
  }

  #accept(message: WebSocketAcceptMessage): void {
    this.#expect("connecting", message);
    const subprotocol = message.subprotocol ?? null;
    if (subprotocol !== null && !this.#subprotocols.includes(subprotocol)) {
      throw new ProtocolError(`The client did not offer the subprotocol ${JSON.stringify(subprotocol)}.`);
    }
    const { headers, max_message_bytes: maxMessageBytes = null } = message;
    this.#begin({ isRefusal: false, subprotocol, headers: acceptedHeaders(headers), maxMessageBytes });
  }

  #begin(acceptance: Acceptance): void {
    const webSocket = this.#handshake?.open(acceptance, this) ?? null;
    this.#handshake = null;
    if (webSocket === null) {
      this.#phase = "closed";
      throw new ClientDisconnect();
    }
    this.#phase = "open";
    this.#webSocket = webSocket;
    this.#inbox.attach(webSocket);
  }

  messaged(data: string | Uint8Array): void {
    this.#inbox.put(
      typeof data === "string" ? { type: "websocket.receive", text: data } : { type: "websocket.receive", bytes: data },
    );
  }

  whenCaughtUp(callBack: () => void): void {
    this.#inbox.whenCaughtUp(callBack);
  }

  violated(code: number): void {
    this.#violation = code;
  }

  closed(code: number, reason: string): void {
    this.#phase = "closed";
    this.#inbox.end(this.#violation || code, reason);
  }

  #write(message: WebSocketSendMessage): Promise<void> | void {
    this.#expect("open", message);
    const data = contentOf(message);
    const webSocket = this.#webSocket as OpenWebSocket;
    this.#turnBytes += data.length + BYTES_PER_MESSAGE;
    const isTurnOver = this.#turnBytes >= MAX_TURN_BYTES;
    if (isTurnOver) this.#turnBytes = 0;
    if (webSocket.bufferedAmount < MAX_BUFFERED_BYTES) {
      webSocket.write(data, null);
      return isTurnOver ? nextTurn() : undefined;
    }
    // A socket that takes the bytes at once settles this promise in the same turn.
    const written = new Promise<void>((resolve, reject) => {
      webSocket.write(data, (error) => (error ? reject(new ClientDisconnect()) : resolve()));
    });
    return markHandled(isTurnOver ? written.then(nextTurn) : written);
  }

  #close(message: WebSocketCloseMessage): void {
    const code = message.code ?? CLOSE.normal;
    const reason = message.reason ?? "";
    if (this.#phase === "closing" || this.#phase === "closed" || this.hasLeft) return;
    this.#expect(this.#phase === "connecting" ? "connecting" : "open", message);
    const fault = findCloseFault(code, reason);
    if (fault !== null) throw new ProtocolError(fault);
    if (this.#phase === "connecting") {
      this.#hasEnded = true;
      if (code < 4000) return this.refuse(errors.forbidden, { code, reason });
      // A client that offers subprotocols fails a connection without one of them, and sees 1006 instead of the code
      // (WebSockets Standard, "establish a WebSocket connection").
      const [subprotocol = null] = this.#subprotocols;
      this.#begin({ isRefusal: true, subprotocol, headers: [], maxMessageBytes: null });
    }
    this.#phase = "closing";
    this.#hasEnded = true;
    this.#webSocket?.close(code, reason);
  }

  /** Extension `websocket.http.response`: the application refuses the handshake with a whole HTTP response. */
  #respond(message: WebSocketHTTPResponseStartMessage | WebSocketHTTPResponseBodyMessage): Promise<void> | void {
    const response = this.#response ?? this.#beginResponse(message);
    const done =
      message.type === "websocket.http.response.start"
        ? response.send({ ...message, type: "http.response.start" })
        : response.send({ ...message, type: "http.response.body" });
    // A rejected message has no effect: the application may still accept.
    this.#response = response;
    if (this.#phase === "connecting") this.#phase = "responding";
    this.#hasEnded ||= response.complete;
    if (response.complete) this.#responded();
    return done;
  }

  #beginResponse(message: SendMessage): Exchange {
    this.#expect("connecting", message);
    return (this.#handshake as PendingHandshake).respond();
  }

  #responded(): void {
    this.#phase = "closed";
    this.#inbox.end(CLOSE.abnormal, "");
    this.#handshake = null;
  }

  #expect(phase: Phase, message: SendMessage): void {
    if (this.#inbox.ended && this.#phase !== "connecting") throw new ClientDisconnect();
    if (this.#phase !== phase) {
      throw new ProtocolError(`"${message.type}" was sent while the WebSocket was ${this.#phase}.`);
    }
    if (this.#connection.destroyed) throw new ClientDisconnect();
  }

  settled(failure: { readonly error: unknown } | null): undefined {
    if (failure !== null) {
      this.#failed(failure.error);
    } else if (this.#phase === "open") {
      this.#webSocket?.close(CLOSE.normal);
    } else if (this.#hasNoResponse) {
      this.#context.logger.error({ path: this.#path }, `The application returned without a response: ${this.name}`);
      this.#giveUp();
    }
    this.#connection.release?.();
  }

  #failed(error: unknown): void {
    const { logger } = this.#context;
    const fields = { err: error, path: this.#path };
    if (this.hasLeft && !this.#hasEnded && !(error instanceof ProtocolError)) {
      logger.debug(fields, `The application threw after its client had disconnected: ${this.name}`);
      return;
    }
    logger.error(fields, `The application threw: ${this.name}`);
    this.#webSocket?.close(CLOSE.error, "", error);
    if (this.#hasNoResponse) this.#giveUp(error);
  }

  /** `true` once the client has disconnected. The socket knows a moment before its event. */
  get hasLeft(): boolean {
    return this.#inbox.ended || this.#connection.destroyed;
  }

  /** `true` while the client waits for a response to its handshake. */
  get #hasNoResponse(): boolean {
    const waits = this.#phase === "connecting" || (this.#phase === "responding" && this.#response?.complete === false);
    return waits && !this.#connection.destroyed;
  }

  #giveUp(cause?: unknown): void {
    if (this.#response === null) {
      this.refuse(errors.failed, { cause });
    } else {
      this.#response.refuse(errors.failed, cause);
      this.#responded();
    }
  }
}

/** The text or the bytes of a message. @throws ProtocolError unless it has exactly one of them, as ASGI asks. */
function contentOf({ text = null, bytes = null }: Pick<WebSocketSendMessage, "text" | "bytes">): string | Uint8Array {
  if (typeof text === "string" && bytes === null) return text;
  if (text === null && bytes instanceof Uint8Array) return bytes;
  throw new ProtocolError('"websocket.send" needs either text or bytes.');
}

/** Up to these bytes and messages the client's messages wait in memory; beyond that the client waits. */
const MAX_QUEUED_BYTES = 65_536;
const MAX_QUEUED_MESSAGES = 16;

/** A WebSocket from which messages come. */
interface MessageSource {
  readonly isPaused: boolean;
  pause(): void;
  resume(): void;
}

/** The messages for one application. */
class WebSocketInbox {
  readonly #queue = new MessageQueue<ReceiveMessage>();
  #queuedBytes = 0;
  #source: MessageSource | null = null;
  /** `true` from a message until the application, which has handled it, asks for the next. */
  #isBehind = false;
  #onCaughtUp: (() => void) | null = null;
  #onEnd: (() => void) | null = null;

  constructor() {
    this.#queue.push({ type: "websocket.connect" });
  }

  /** Says where messages come from, so that it can be made to wait. */
  attach(source: MessageSource): void {
    this.#source = source;
  }

  /** `true` after the last message. */
  get ended(): boolean {
    return this.#queue.hasEnded;
  }

  /** The next message: first the received ones, then the end, repeatedly. */
  receive(): Promise<ReceiveMessage> {
    if (this.#queue.isAwaited) {
      return markHandled(
        Promise.reject(new ProtocolError("receive was called while an earlier call of it still waits.")),
      );
    }
    const message = this.#queue.shift();
    if (message === undefined) return this.#takeNext();
    this.#queuedBytes -= sizeOf(message);
    if (this.#source?.isPaused && this.#queue.length === 0) this.#source.resume();
    return Promise.resolve(message);
  }

  #takeNext(): Promise<ReceiveMessage> {
    const next = this.#queue.take();
    this.#isBehind = false;
    this.#onCaughtUp?.();
    this.#onCaughtUp = null;
    return next;
  }

  /** Calls back once the application has taken every message and asks for the next. */
  whenCaughtUp(callBack: () => void): void {
    if (this.#isBehind) this.#onCaughtUp = callBack;
    else callBack();
  }

  put(message: ReceiveMessage): void {
    if (this.ended) return;
    this.#isBehind = true;
    if (!this.#queue.isAwaited) this.#queuedBytes += sizeOf(message);
    this.#queue.push(message);
    if (this.#queue.length >= MAX_QUEUED_MESSAGES || this.#queuedBytes >= MAX_QUEUED_BYTES) this.#source?.pause();
  }

  /** Calls back once the connection has ended, whether or not the application has taken every message. */
  whenEnded(callBack: () => void): void {
    if (this.ended) callBack();
    else this.#onEnd = callBack;
  }

  /** The client has disconnected, or this side closes. The first time counts. */
  end(code: number, reason: string): void {
    this.#queue.end({ type: "websocket.disconnect", code, reason });
    this.#onEnd?.();
    this.#onEnd = null;
  }
}

function sizeOf(message: ReceiveMessage): number {
  return message.type === "websocket.receive" ? (message.text?.length ?? message.bytes?.length ?? 0) : 0;
}
