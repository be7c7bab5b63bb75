/** One WebSocket between `ws` and the application, from the request to the close frame. @module */
import { ServerResponse } from "node:http";
import type { RawData, WebSocket } from "ws";
import type {
  SendMessage,
  WebSocketAcceptMessage,
  WebSocketCloseMessage,
  WebSocketScope,
  WebSocketSendMessage,
} from "../asgi.js";
import { ClientDisconnect, findCloseFault } from "../exceptions.js";
import type { Call, Connection } from "./connection.js";
import { ProtocolError } from "./errors.js";
import { Refusal } from "./refusal.js";
import { ResponseWriter, type ResponseOwner } from "./response.js";
import type { Service } from "./service.js";
import type { Handshake } from "./websocket-handshake.js";
import { WebSocketInbox } from "./websocket-inbox.js";
import { CLOSE, toCloseCode, toHeaderLines, toReceiveMessage } from "./websocket-messages.js";
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

/** Bytes that wait for the socket before `send` asks to wait as well: a stream's usual high-water mark. */
const MAX_BUFFERED_BYTES = 65_536;

const refusals = { forbidden: new Refusal(403), failed: new Refusal(500), draining: new Refusal(503) };

const noAcceptance: Acceptance = { subprotocol: null, headers: [], maxMessageBytes: null };

const sessions = new WeakMap<WebSocket, WebSocketSession>();

/** Calls the application for one WebSocket. */
export class WebSocketSession implements Call, ResponseOwner {
  readonly received = true;
  /** What is needed of the scope later: an idle WebSocket would keep the whole of it. */
  readonly #path: string;
  readonly #subprotocols: readonly string[];
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
  readonly #inbox = new WebSocketInbox();
  /** Why this side ends the connection, where `ws` would only say that it ended. */
  #violation = 0;

  constructor(
    service: Service,
    connection: Connection,
    { path, subprotocols = [] }: WebSocketScope,
    handshake: Handshake,
    open: Open,
    pings: PingRound,
  ) {
    this.#path = path;
    this.#subprotocols = subprotocols;
    this.#service = service;
    this.#connection = connection;
    this.#handshake = handshake;
    this.#open = open;
    this.#pings = pings;
  }

  get name(): string {
    return `WebSocket ${this.#path}`;
  }

  get answered(): boolean {
    return this.#phase === "closing" || this.#phase === "closed";
  }

  mustClose(): boolean {
    return true;
  }

  /** Starts the application. Never throws. */
  run(scope: WebSocketScope): void {
    this.#connection.calls.push(this);
    let result: Promise<void>;
    try {
      result = this.#service.app(
        scope,
        () => this.#inbox.receive(),
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
      this.#inbox.end(CLOSE.abnormal, "");
    }
  }

  drain(): void {
    if (this.#phase === "connecting") {
      this.refuse(refusals.draining);
    }
    this.#webSocket?.close(CLOSE.restart, "The server is about to stop");
    this.#inbox.end(CLOSE.restart, "");
  }

  refuse(refusal: Refusal): void {
    if (this.#phase === "connecting") {
      this.#phase = "closed";
      this.#handshake?.release();
      this.#handshake = null;
      refusal.write(this.#connection.socket);
    }
    this.#inbox.end(CLOSE.abnormal, "");
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
    if (subprotocol !== null && !this.#subprotocols.includes(subprotocol)) {
      throw new ProtocolError(`The client did not offer the subprotocol ${JSON.stringify(subprotocol)}.`);
    }
    this.#begin({ subprotocol, headers: toHeaderLines(message), maxMessageBytes: message.max_message_bytes ?? null });
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
    sessions.set(webSocket, this);
    this.#inbox.attach(webSocket);
    webSocket.on("message", onMessage);
    webSocket.on("ping", onPing);
    webSocket.on("error", onError);
    webSocket.on("close", onClose);
    this.#pings.add(webSocket);
  }

  /** A message has come. */
  messaged(data: RawData, isBinary: boolean): void {
    this.#inbox.put(toReceiveMessage(data, isBinary));
  }

  /** The connection breaks a rule, and is about to end for it. */
  violated(error: NodeJS.ErrnoException): void {
    this.#violation = toCloseCode(error.code);
  }

  /** The connection has ended. */
  closed(webSocket: WebSocket, code: number, reason: Buffer): void {
    this.#phase = "closed";
    this.#pings.delete(webSocket);
    this.#inbox.end(this.#violation || code, reason.toString());
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
      this.#inbox.end(CLOSE.abnormal, "");
    });
    return new ResponseWriter(res, false, this);
  }

  #expect(phase: Phase, message: SendMessage): void {
    if (this.#inbox.ended && this.#phase !== "connecting") {
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
      this.#service.logger.error({ path: this.#path }, `The application returned without an answer: ${this.name}`);
      this.#giveUp();
    }
    this.#leave();
  }

  #failed(error: unknown): void {
    const { logger } = this.#service;
    const fields = { err: error, path: this.#path };
    if (this.#inbox.ended && !(error instanceof ProtocolError)) {
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

// One function each for all WebSockets: ten thousand idle ones would each keep their own.

function onMessage(this: WebSocket, data: RawData, isBinary: boolean): void {
  sessions.get(this)?.messaged(data, isBinary);
}

/**
 * Not every ping is answered (RFC 6455 §5.5.3 lets the last one count): a client that sends nothing else and reads
 * nothing would have its answers kept in memory.
 */
function onPing(this: WebSocket, data: Buffer): void {
  if (this.bufferedAmount < MAX_BUFFERED_BYTES) {
    this.pong(data, false, ignore);
  }
}

function onError(this: WebSocket, error: NodeJS.ErrnoException): void {
  sessions.get(this)?.violated(error);
}

function onClose(this: WebSocket, code: number, reason: Buffer): void {
  sessions.get(this)?.closed(this, code, reason);
}
