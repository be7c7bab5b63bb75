/** One WebSocket between `ws` and the application, from the request to the close frame. @module */
import { ServerResponse } from "node:http";
import type { RawData, WebSocket } from "ws";
import type {
  ReceiveMessage,
  SendMessage,
  WebSocketAcceptMessage,
  WebSocketCloseMessage,
  WebSocketScope,
  WebSocketSendMessage,
} from "../asgi.js";
import { ClientDisconnect, findCloseFault } from "../exceptions.js";
import type { Call, Connection } from "./connection.js";
import { ProtocolError } from "./errors.js";
import { checkHeader, toRawHeaders } from "./headers.js";
import { Refusal } from "./refusal.js";
import { ResponseWriter, type ResponseOwner } from "./response.js";
import type { Service } from "./service.js";
import type { Handshake } from "./websocket-handshake.js";
import type { PingRound } from "./websocket-pings.js";

/** What the application says when it takes a WebSocket. */
export interface Acceptance {
  subprotocol: string | null;
  /** Whole header lines. */
  headers: readonly string[];
  /** The most bytes of one message that it wants; `null` where it does not say. */
  maxMessageBytes: number | null;
}

/** Completes the handshake; `null` when the client has gone. */
export type Open = (handshake: Handshake, acceptance: Acceptance) => WebSocket | null;

/** How far a WebSocket has come. `answering`: the application refuses it with an HTTP response of its own. */
type Phase = "connecting" | "answering" | "open" | "closing" | "closed";

/** RFC 6455 §7.4.1. */
const CLOSE = {
  normal: 1000,
  goingAway: 1012,
  abnormal: 1006,
  protocolError: 1002,
  invalidText: 1007,
  policyViolation: 1008,
  tooBig: 1009,
  error: 1011,
};
/** Up to these bytes and messages the client's messages wait in memory; beyond that the client waits. */
const MAX_QUEUED_BYTES = 65_536;
const MAX_QUEUED_MESSAGES = 16;
/** Bytes that wait for the socket before `send` asks to wait as well: a stream's usual high-water mark. */
const MAX_BUFFERED_BYTES = 65_536;

const refusals = { forbidden: new Refusal(403), failed: new Refusal(500), draining: new Refusal(503) };

const noAcceptance: Acceptance = { subprotocol: null, headers: [], maxMessageBytes: null };

/** Calls the application for one WebSocket. */
export class WebSocketSession implements Call, ResponseOwner {
  readonly scope: WebSocketScope;
  readonly received = true;
  readonly #service: Service;
  readonly #connection: Connection;
  /** Gone once it is answered: an idle WebSocket would keep the whole request in memory. */
  #handshake: Handshake | null;
  /** One function for all WebSockets. */
  readonly #open: Open;
  readonly #pings: PingRound;
  #phase: Phase = "connecting";
  #webSocket: WebSocket | null = null;
  #response: ResponseWriter | null = null;
  #queue: ReceiveMessage[] = [{ type: "websocket.connect" }];
  #queuedBytes = 0;
  #waiting: ((message: ReceiveMessage) => void) | null = null;
  #disconnected: ReceiveMessage | null = null;
  /** Why this side ends the connection, where `ws` would only say that it ended. */
  #violation = 0;

  constructor(
    service: Service,
    connection: Connection,
    scope: WebSocketScope,
    handshake: Handshake,
    open: Open,
    pings: PingRound,
  ) {
    this.scope = scope;
    this.#service = service;
    this.#connection = connection;
    this.#handshake = handshake;
    this.#open = open;
    this.#pings = pings;
  }

  get name(): string {
    return `WebSocket ${this.scope.path}`;
  }

  get answered(): boolean {
    return this.#phase === "closing" || this.#phase === "closed";
  }

  mustClose(): boolean {
    return true;
  }

  /** Starts the application. Never throws. */
  run(): void {
    this.#connection.calls.push(this);
    let result: Promise<void>;
    try {
      result = this.#service.app(
        this.scope,
        () => this.#receive(),
        (message) => this.#send(message),
      );
    } catch (error) {
      this.#failed(error);
      return;
    }
    Promise.resolve(result).then(
      () => this.#returned(),
      (error: unknown) => this.#failed(error),
    );
  }

  disconnect(): void {
    this.#response?.disconnect();
    if (this.#webSocket === null) {
      this.#tellDisconnect(CLOSE.abnormal, "");
    }
  }

  drain(): void {
    if (this.#phase === "connecting") {
      this.refuse(refusals.draining);
    }
    this.#webSocket?.close(CLOSE.goingAway, "The server is about to stop");
    this.#tellDisconnect(CLOSE.goingAway, "");
  }

  refuse(refusal: Refusal): void {
    if (this.#phase === "connecting") {
      this.#phase = "closed";
      this.#handshake?.release();
      this.#handshake = null;
      refusal.write(this.#connection.socket);
    }
    this.#tellDisconnect(CLOSE.abnormal, "");
  }

  #receive(): Promise<ReceiveMessage> {
    const message = this.#queue.shift() ?? this.#disconnected;
    if (message !== null) {
      this.#queuedBytes -= sizeOf(message);
      if (this.#webSocket?.isPaused && this.#queue.length === 0) {
        this.#webSocket.resume();
      }
      return Promise.resolve(message);
    }
    if (this.#waiting !== null) {
      return Promise.reject(new ProtocolError("receive was called while an earlier call of it still waits."));
    }
    return new Promise((resolve) => (this.#waiting = resolve));
  }

  #deliver(message: ReceiveMessage): void {
    const waiting = this.#waiting;
    if (waiting !== null) {
      this.#waiting = null;
      waiting(message);
      return;
    }
    this.#queue.push(message);
    this.#queuedBytes += sizeOf(message);
    if (this.#queue.length >= MAX_QUEUED_MESSAGES || this.#queuedBytes >= MAX_QUEUED_BYTES) {
      this.#webSocket?.pause();
    }
  }

  #tellDisconnect(code: number, reason: string): void {
    if (this.#disconnected === null) {
      this.#disconnected = { type: "websocket.disconnect", code, reason };
      const waiting = this.#waiting;
      this.#waiting = null;
      waiting?.(this.#disconnected);
    }
  }

  #send(message: SendMessage): Promise<void> | void {
    switch (message.type) {
      case "websocket.accept":
        return this.#accept(message);
      case "websocket.send":
        return this.#write(message);
      case "websocket.close":
        return this.#close(message);
      case "websocket.http.response.start":
      case "websocket.http.response.body":
        return this.#answer(message);
      default:
        throw new ProtocolError(`Expected a message of the WebSocket protocol, not "${message.type}".`);
    }
  }

  #accept(message: WebSocketAcceptMessage): void {
    this.#expect("connecting", message);
    const subprotocol = message.subprotocol ?? null;
    if (subprotocol !== null && this.scope.subprotocols?.includes(subprotocol) !== true) {
      throw new ProtocolError(`The client did not offer the subprotocol ${JSON.stringify(subprotocol)}.`);
    }
    this.#begin({ subprotocol, headers: headerLines(message), maxMessageBytes: message.max_message_bytes ?? null });
  }

  #begin(acceptance: Acceptance): void {
    const webSocket = this.#handshake === null ? null : this.#open(this.#handshake, acceptance);
    this.#handshake = null;
    if (webSocket === null) {
      this.#phase = "closed";
      throw new ClientDisconnect();
    }
    this.#phase = "open";
    this.#webSocket = webSocket;
    webSocket.on("message", (data, isBinary) => this.#deliver(toMessage(data, isBinary)));
    webSocket.on("error", (error: NodeJS.ErrnoException) => (this.#violation = violationOf(error.code)));
    webSocket.on("close", (code, reason) => {
      this.#phase = "closed";
      this.#pings.delete(webSocket);
      this.#tellDisconnect(this.#violation || code, reason.toString());
    });
    this.#pings.add(webSocket);
  }

  #write(message: WebSocketSendMessage): Promise<void> | void {
    this.#expect("open", message);
    const data = message.text ?? message.bytes;
    if (data === null || data === undefined) {
      throw new ProtocolError('"websocket.send" needs text or bytes.');
    }
    const webSocket = this.#webSocket as WebSocket;
    if (webSocket.bufferedAmount < MAX_BUFFERED_BYTES) {
      webSocket.send(data, ignore);
      return;
    }
    return new Promise((resolve, reject) => {
      webSocket.send(data, (error) => (error ? reject(new ClientDisconnect()) : resolve()));
    });
  }

  #close(message: WebSocketCloseMessage): void {
    const { code = CLOSE.normal, reason = "" } = message;
    if (this.#phase === "closing" || this.#phase === "closed") {
      return;
    }
    this.#expect(this.#phase === "connecting" ? "connecting" : "open", message);
    const fault = findCloseFault(code, reason);
    if (fault !== null) {
      throw new ProtocolError(fault);
    }
    if (this.#phase === "connecting") {
      if (code < 4000) {
        return this.refuse(refusals.forbidden);
      }
      this.#begin(noAcceptance); // an application's own code: a browser sees it only behind a handshake
    }
    this.#webSocket?.close(code, reason);
    this.#phase = "closing";
  }

  /** Extension `websocket.http.response`: the handshake is refused with a whole HTTP response. */
  #answer(message: SendMessage): Promise<void> | void {
    if (this.#response === null) {
      this.#expect("connecting", message);
      this.#phase = "answering";
      this.#response = this.#respond(this.#handshake as Handshake);
    }
    if (message.type === "websocket.http.response.start") {
      return this.#response.send({ ...message, type: "http.response.start" });
    }
    if (message.type === "websocket.http.response.body") {
      return this.#response.send({ ...message, type: "http.response.body" });
    }
  }

  #respond(handshake: Handshake): ResponseWriter {
    const { socket } = this.#connection;
    const res = new ServerResponse(handshake.req);
    res.assignSocket(socket);
    socket.on("drain", () => res.emit("drain")); // what the server of node:http does for its own
    this.#connection.closeAfter(res);
    res.once("finish", () => {
      handshake.release();
      this.#phase = "closed";
      this.#tellDisconnect(CLOSE.abnormal, "");
    });
    return new ResponseWriter(res, false, this);
  }

  #expect(phase: Phase, message: SendMessage): void {
    if (this.#disconnected !== null && this.#phase !== "connecting") {
      throw new ClientDisconnect();
    }
    if (this.#phase !== phase) {
      throw new ProtocolError(`"${message.type}" was sent while the WebSocket was ${this.#phase}.`);
    }
    if (this.#connection.socket.destroyed) {
      throw new ClientDisconnect();
    }
  }

  #returned(): void {
    if (this.#phase === "open") {
      this.#webSocket?.close(CLOSE.normal);
    } else if (this.#unanswered) {
      this.#service.logger.error({ path: this.scope.path }, `The application returned without an answer: ${this.name}`);
      this.#giveUp();
    }
    this.#leave();
  }

  #failed(error: unknown): void {
    const { logger } = this.#service;
    const fields = { err: error, path: this.scope.path };
    if (this.#disconnected !== null && !(error instanceof ProtocolError)) {
      logger.debug(fields, `The application threw after its client had gone: ${this.name}`);
    } else {
      logger.error(fields, `The application threw: ${this.name}`);
      this.#webSocket?.close(CLOSE.error);
      if (this.#unanswered) {
        this.#giveUp();
      }
    }
    this.#leave();
  }

  /** Whether the client still waits for an answer to its handshake. */
  get #unanswered(): boolean {
    const waits = this.#phase === "connecting" || (this.#phase === "answering" && this.#response?.complete === false);
    return waits && !this.#connection.socket.destroyed;
  }

  #giveUp(): void {
    if (this.#response === null) {
      this.refuse(refusals.failed);
    } else if (this.#response.untouched) {
      this.#response.replace(refusals.failed);
    } else {
      this.#connection.socket.destroy();
    }
  }

  #leave(): void {
    this.#connection.delete(this);
    this.#service.finished();
  }
}

function ignore(): void {}

function sizeOf(message: ReceiveMessage): number {
  return message.type === "websocket.receive" ? (message.text?.length ?? message.bytes?.length ?? 0) : 0;
}

function toMessage(data: RawData, isBinary: boolean): ReceiveMessage {
  // One Buffer: that is what the binary type "nodebuffer" gives, and nothing here sets another.
  const bytes = data as Buffer;
  return isBinary ? { type: "websocket.receive", bytes } : { type: "websocket.receive", text: bytes.toString() };
}

function headerLines(message: WebSocketAcceptMessage): string[] {
  const raw = toRawHeaders(message.headers);
  const lines: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] as string;
    const value = raw[index + 1] as string;
    checkHeader(name, value);
    // What the handshake itself says is not the application's to say a second time.
    if (!/^(?:connection|upgrade|content-length|transfer-encoding|sec-websocket-.*)$/i.test(name)) {
      lines.push(`${name}: ${value}`);
    }
  }
  return lines;
}

function violationOf(code: string | undefined): number {
  if (code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH" || code === "WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH") {
    return CLOSE.tooBig;
  }
  if (code === "WS_ERR_INVALID_UTF8") {
    return CLOSE.invalidText;
  }
  if (code === "WS_ERR_TOO_MANY_BUFFERED_PARTS") {
    return CLOSE.policyViolation;
  }
  return code?.startsWith("WS_ERR_") ? CLOSE.protocolError : 0;
}
