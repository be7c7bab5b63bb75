import type {
  ASGIApp,
  HeaderPair,
  ReceiveMessage,
  SendMessage,
  WebSocketCloseMessage,
  WebSocketAcceptMessage,
  WebSocketScope,
  WebSocketSendMessage,
} from "../asgi.js";
import { parseHeaders } from "../datastructures.js";
import { ClientDisconnect, contentOf, ProtocolError, statusPhrase, WebSocketException } from "../exceptions.js";
import { MessageQueue } from "../message-queue.js";
import { Deferred } from "../promises.js";
import { type Refused, WebSocketRefusedError } from "./refused-error.js";

/** RFC 6455 §7.4.1. */
const CLOSE = { normal: 1000, error: 1011 };

/** The response of a server in place of the application's. */
function plainAnswer(status: 403 | 500): Refused {
  const body = Buffer.from(JSON.stringify({ detail: statusPhrase(status) }));
  return { statusCode: status, headers: { "content-type": "application/json" }, body };
}

/** Gets the headers of the response to a handshake. */
export type OnHeaders = (headers: Iterable<HeaderPair>) => void;

/** One call of an application for one WebSocket, with the part of the server between the two peers. */
export class WebSocketCall {
  /** Messages of the application; fails with the end of the WebSocket. */
  readonly inbox = new MessageQueue<string | Uint8Array>();
  readonly #accepted = new Deferred<WebSocketAcceptMessage>();
  readonly #ended = new Deferred<WebSocketException>();
  /** Settles with the application's answer to the handshake. */
  readonly answered = this.#accepted.promise;
  /** Resolves with code and reason of the end. */
  readonly closed = this.#ended.promise;
  /** Resolves when the application has returned, its clean-up and background tasks over. */
  readonly settled: Promise<void>;
  readonly #scope: WebSocketScope;
  readonly #onHeaders: OnHeaders;
  readonly #outbox = new MessageQueue<ReceiveMessage>();
  #phase: "connecting" | "answering" | "open" | "closed" = "connecting";
  /** `true` once the handshake was refused with a whole HTTP response. */
  #isAnswered = false;
  #response = { status: 0, headers: {}, chunks: [] as Uint8Array[] };

  /** @param onHeaders - Gets the headers of the answer to the handshake, whatever it is. */
  constructor(app: ASGIApp, scope: WebSocketScope, onHeaders: OnHeaders = () => {}) {
    this.#scope = scope;
    this.#onHeaders = onHeaders;
    this.#outbox.push({ type: "websocket.connect" });
    this.settled = this.#run(app);
  }

  async #run(app: ASGIApp): Promise<void> {
    try {
      await app(
        this.#scope,
        () => this.#outbox.take(),
        (message) => this.#send(message),
      );
    } catch (error) {
      return this.#over(CLOSE.error, "", { ...plainAnswer(500), cause: error });
    }
    this.#over(CLOSE.normal, "", plainAnswer(500));
  }

  /** The path that was asked for. */
  get path(): string {
    return this.#scope.path;
  }

  /** Gives the application a message of the client's. @throws WebSocketException when it is not open. */
  async deliver(message: { text: string } | { bytes: Uint8Array }): Promise<void> {
    if (this.#phase !== "open") throw await this.closed;
    this.#outbox.push({ type: "websocket.receive", ...message });
  }

  leave(code: number, reason: string): void {
    this.#over(code, reason, { statusCode: null, code, reason });
  }

  #send(message: SendMessage): void {
    if (this.#isAnswered) return; // ASGI: what follows the last body is ignored
    switch (message.type) {
      case "websocket.accept":
        this.#expect(message, "connecting");
        this.#phase = "open";
        this.#onHeaders(message.headers ?? []);
        return this.#accepted.resolve(message);
      case "websocket.send":
        return this.#take(message);
      case "websocket.close":
        return this.#closeByApplication(message);
      case "websocket.http.response.start":
        this.#expect(message, "connecting");
        this.#phase = "answering";
        this.#onHeaders(message.headers ?? []);
        this.#response = { status: message.status, headers: parseHeaders(message.headers), chunks: [] };
        return;
      case "websocket.http.response.body":
        this.#expect(message, "answering");
        if (message.body) this.#response.chunks.push(message.body);
        if (message.more_body !== true) this.#answer();
        return;
      default:
        throw new ProtocolError(`Expected a message of the WebSocket protocol, not ${JSON.stringify(message.type)}.`);
    }
  }

  #take(message: WebSocketSendMessage): void {
    this.#expect(message, "open");
    const data = contentOf(message);
    this.inbox.push(typeof data === "string" ? data : data.slice());
  }

  #closeByApplication(message: WebSocketCloseMessage): void {
    if (this.#phase === "closed") return;
    this.#expect(message, this.#phase === "connecting" ? "connecting" : "open");
    const { code = CLOSE.normal } = message;
    const reason = message.reason ?? "";
    // As the Node server does: a browser sees such a code only behind a completed handshake.
    const answer = code >= 4000 ? { statusCode: null } : plainAnswer(403);
    this.#over(code, reason, { code, reason, ...answer });
  }

  #answer(): void {
    this.#isAnswered = true;
    const { status, headers, chunks } = this.#response;
    this.#over(CLOSE.normal, "", { statusCode: status, headers, body: Buffer.concat(chunks) });
  }

  #over(code: number, reason: string, refused: Refused): void {
    if (this.#phase === "closed") return;
    const wasOpen = this.#phase === "open";
    this.#phase = "closed";
    const how = wasOpen ? new WebSocketException(code, reason) : new WebSocketRefusedError(this.#scope.path, refused);
    if (wasOpen && refused.cause !== undefined) how.cause = refused.cause;
    if (how instanceof WebSocketRefusedError) this.#accepted.reject(how);
    this.inbox.fail(how);
    this.#outbox.end({ type: "websocket.disconnect", code: how.code, reason: how.reason });
    this.#ended.resolve(how);
  }

  #expect(message: SendMessage, phase: "connecting" | "answering" | "open"): void {
    if (this.#phase === phase) return;
    if (this.#phase === "closed") throw new ClientDisconnect();
    throw new ProtocolError(`"${message.type}" was sent while the WebSocket was ${this.#phase}.`);
  }
}
