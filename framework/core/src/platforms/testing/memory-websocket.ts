/** The driver of WebSockets in memory: the client's end of one, and the server between it and the application. @module */
import { clearTimeout } from "../../common/timers.js";
import type { Address, HTTPScope } from "../../protocol/asgi.js";
import { encodeUTF8, HeaderList, parseHeaders } from "../../protocol/header-list.js";
import { concatBytes, isLonger } from "../../protocol/bytes.js";
import { WebSocketException } from "../../common/exceptions.js";
import { HeldMessages, MessageQueue } from "../../protocol/message-queue.js";
import { Deferred, setIdleTimeout } from "../../common/promises.js";
import {
  type Acceptance,
  CLOSE,
  DEFAULT_MESSAGE_BYTES,
  type OpenWebSocket,
  type PendingHandshake,
  type Refusal,
  type WebSocketEvents,
} from "../../protocol/websocket-handshake.js";
import type { ConnectionHandle, ResponseStream } from "../../protocol/engine.js";
import type { ErrorResponse } from "../../protocol/error-response.js";
import { Exchange } from "../../protocol/exchange.js";
import { createScope, toWebSocketScope } from "../../protocol/scope.js";
import type { ServerContext } from "../../protocol/server-context.js";
import { WebSocketSession } from "../../protocol/websocket-session.js";
import { type HeadersInit, ResponseHeaders } from "../../http/response/headers.js";
import type { ServerResponseHead } from "../../protocol/response.js";

/** RFC 6455 §7.4.1: the code in a browser for a handshake with a response other than 101. */
const ABNORMAL = 1006;

/** The refusal of a handshake. */
interface Refused {
  /** The close code, where the application closed in place of accepting. */
  readonly code?: number;
  readonly reason?: string;
  /** HTTP status code in range [200...599]; `null` where the client would see the close code instead. */
  readonly statusCode: number | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly cause?: unknown;
}

/** The application did not take the WebSocket. */
export class WebSocketRefusedError extends WebSocketException {
  override readonly name = "WebSocketRefusedError";
  /** HTTP status code in range [200...599]; `null` for a close with 4000 to 4999, which clients see as the code. */
  readonly statusCode: number | null;
  /** The headers of the response, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body of the response. */
  readonly body: Uint8Array;

  constructor(path: string, { code = ABNORMAL, reason = "", statusCode, headers, body, cause }: Refused) {
    super(code, reason);
    this.statusCode = statusCode;
    this.headers = headers ?? {};
    this.body = body ?? Buffer.alloc(0);
    const how = statusCode === null ? `code ${code}` : `status ${statusCode}`;
    this.message = `The WebSocket ${path} was refused with ${how}. ${this.text() || reason}`.trimEnd();
    if (cause !== undefined) this.cause = cause;
  }

  /** The body as UTF-8 text. */
  text(): string {
    return new TextDecoder().decode(this.body);
  }

  /** The body parsed as JSON. @throws SyntaxError when it is not JSON. */
  json(): unknown {
    return JSON.parse(this.text());
  }
}

/** A refusal with the head and the body of a response. */
function toRefused({ status, headers }: ServerResponseHead, body: Uint8Array): Refused {
  return { statusCode: status, headers: parseHeaders(new HeaderList(headers.raw)), body };
}

/** Collects a response. */
class MemoryResponse implements ResponseStream {
  readonly #connection: { readonly destroyed: boolean };
  readonly #onEnd: (refused: Refused, head: ServerResponseHead) => void;
  #head: ServerResponseHead | null = null;
  readonly #parts: Uint8Array[] = [];
  #isCut = false;

  /** @param onEnd - Gets the response, whole or cut. */
  constructor(
    connection: { readonly destroyed: boolean },
    onEnd: (refused: Refused, head: ServerResponseHead) => void,
  ) {
    this.#connection = connection;
    this.#onEnd = onEnd;
  }

  get destroyed(): boolean {
    return this.#isCut || this.#connection.destroyed;
  }

  respond(head: ServerResponseHead, body: Uint8Array | string): void {
    this.begin(head);
    this.write(typeof body === "string" ? encodeUTF8(body) : body);
    this.end();
  }

  begin(head: ServerResponseHead): void {
    this.#head = head;
  }

  write(chunk: Uint8Array): boolean {
    this.#parts.push(chunk.slice());
    return true;
  }

  end(): void {
    this.#finish({});
  }

  /** Everything is with the client at once. */
  flushed(): undefined {}

  destroy(cause?: unknown): void {
    this.#isCut = true;
    this.#finish({ cause });
  }

  #finish(cut: Pick<Refused, "cause">): void {
    if (this.#head !== null) this.#onEnd({ ...toRefused(this.#head, concatBytes(this.#parts)), ...cut }, this.#head);
  }
}

/** Headers, with others instead of those of the same name. */
export function withHeaders(base: HeadersInit, others?: HeadersInit): ResponseHeaders {
  const headers = new ResponseHeaders(base);
  const given = new ResponseHeaders(others);
  for (const [name] of given) headers.delete(name);
  for (const [name, value] of given) headers.append(name, value);
  return headers;
}

/** Milliseconds for which the close of the client waits until the application has handled the messages before it. */
const MAX_CATCH_UP_MS = 1000;
/** A test may send as much as it likes to a slow application. */
const UNLIMITED = { messages: Infinity, bytes: Infinity };

/** The request of a handshake. */
export interface HandshakeOptions {
  /** The target, percent-encoded, with its query. */
  readonly target: string;
  /** Headers in addition to those of the handshake itself, which they can replace. */
  readonly headers?: HeadersInit | undefined;
  readonly subprotocols?: readonly string[] | undefined;
  readonly server: Address;
}

/** Gets the headers of the response to a handshake. */
export type OnHeaders = (headers: HeaderList) => void;

/** The scope of the request that a client would send. */
function createHandshakeScope(
  { target, headers, subprotocols = [], server }: HandshakeOptions,
  context: ServerContext,
): HTTPScope {
  const own = new ResponseHeaders({
    host: server.join(":"),
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
  });
  if (subprotocols.length > 0) own.set("sec-websocket-protocol", subprotocols.join(", "));
  const raw = withHeaders(own, headers).toList().raw;
  const encoded = target.replaceAll(/[^\0-\x7f]+/gu, encodeURIComponent);
  const head = { httpVersion: "1.1", method: "GET", target: encoded, headers: raw };
  return createScope(head, { encrypted: false, client: [server[0], 0], server }, context);
}

/** The client's end of one WebSocket. */
export class MemoryWebSocket implements ConnectionHandle, PendingHandshake, OpenWebSocket {
  /** Messages of the application; fails with the end of the WebSocket. */
  readonly inbox: MessageQueue<string | Uint8Array> = new MessageQueue();
  readonly path: string;
  /** Everything that was sent has been received. */
  readonly bufferedAmount = 0;
  /** Resolves when the application has settled, its cleanup and background tasks too. */
  readonly settled: Promise<void>;
  destroyed = false;
  readonly #context: ServerContext;
  readonly #scope: HTTPScope;
  readonly #session: WebSocketSession;
  readonly #onHeaders: OnHeaders;
  readonly #accepted = new Deferred<Acceptance>();
  readonly #ended = new Deferred<WebSocketException>();
  readonly #messages: HeldMessages;
  #phase: "connecting" | "refusing" | "open" | "closed" = "connecting";
  #maxMessageBytes = DEFAULT_MESSAGE_BYTES;

  /** @param onHeaders - Gets the headers of the application's response to the handshake. */
  constructor(context: ServerContext, handshake: HandshakeOptions, onHeaders: OnHeaders = () => {}) {
    this.#context = context;
    this.#onHeaders = onHeaders;
    this.#scope = createHandshakeScope(handshake, context);
    this.path = this.#scope.path;
    const scope = toWebSocketScope(this.#scope);
    this.#session = new WebSocketSession(context, this, scope, this);
    this.#messages = new HeldMessages(UNLIMITED, (data) => this.#session.messaged(data));
    this.settled = this.#session.run(scope);
  }

  /** Settles with the application's response to the handshake. */
  get handshake(): Promise<Acceptance> {
    return this.#accepted.promise;
  }

  /** Resolves with code and reason of the end. */
  get closed(): Promise<WebSocketException> {
    return this.#ended.promise;
  }

  /** Sends a message of the client. @throws WebSocketException when the WebSocket is not open. */
  async deliver(data: string | Uint8Array): Promise<void> {
    if (this.#phase !== "open") throw await this.closed;
    if (isLonger(data, this.#maxMessageBytes)) {
      this.#session.violated(CLOSE.tooBig);
      this.close(CLOSE.tooBig);
    } else {
      this.#messages.take(data);
    }
  }

  /**
   * The client closes, once the application has handled the messages before the close, or after a second: RFC 6455 §5.5.1.
   * Until then messages of the application still arrive.
   */
  leave(code: number, reason: string): void {
    const close = (): void => {
      clearTimeout(timer);
      this.close(code, reason);
    };
    const timer = setIdleTimeout(close, MAX_CATCH_UP_MS);
    this.#session.whenCaughtUp(close);
  }

  open(acceptance: Acceptance, _events: WebSocketEvents): OpenWebSocket | null {
    if (this.destroyed) return null;
    if (acceptance.isRefusal) {
      this.#phase = "refusing";
      return this;
    }
    this.#phase = "open";
    this.#maxMessageBytes = acceptance.maxMessageBytes ?? DEFAULT_MESSAGE_BYTES;
    this.#onHeaders(new HeaderList(acceptance.headers));
    this.#accepted.resolve(acceptance);
    return this;
  }

  refuse({ head, body }: ErrorResponse, refusal: Refusal): void {
    this.#refused({ ...toRefused(head, body), ...refusal });
  }

  respond(): Exchange {
    const response = new MemoryResponse(this, (refused, head) => {
      this.#onHeaders(new HeaderList(head.headers.raw));
      this.#refused(refused);
    });
    return new Exchange(this.#context, response, this.#scope, null);
  }

  /** The connection is lost, on both sides at once. */
  destroy(): void {
    if (this.#phase === "open") return this.close(CLOSE.abnormal, "");
    this.destroyed = true;
    this.#refused({ statusCode: null, code: CLOSE.abnormal });
    this.#session.disconnect();
  }

  get isPaused(): boolean {
    return this.#messages.isPaused;
  }

  pause(): void {
    this.#messages.isPaused = true;
  }

  resume(): void {
    this.#messages.resume();
  }

  write(data: string | Uint8Array, done: ((error?: Error | null) => void) | null): void {
    this.inbox.push(typeof data === "string" ? data : data.slice());
    done?.();
  }

  close(code: number = CLOSE.noStatus, reason = "", cause?: unknown): void {
    if (this.#phase === "closed") return;
    if (this.#phase === "refusing") {
      this.#refused({ statusCode: null, code, reason });
    } else {
      const how = new WebSocketException(code, reason);
      if (cause !== undefined) how.cause = cause;
      this.#over(how);
    }
    this.#messages.flush();
    this.#session.closed(code, reason);
  }

  #refused(refused: Refused): void {
    const error = new WebSocketRefusedError(this.path, refused);
    this.#accepted.reject(error);
    this.#over(error);
  }

  #over(how: WebSocketException): void {
    this.#phase = "closed";
    this.inbox.fail(how);
    this.#ended.resolve(how);
  }
}
