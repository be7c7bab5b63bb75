/** A WebSocket as a handler sees it. @module */
import type { Receive, ReceiveMessage, Send, WebSocketScope } from "./asgi.js";
import { encodeUTF8 } from "./datastructures.js";
import { WebSocketException } from "./exceptions.js";
import { DEFAULT_LIMITS, type Limits } from "./limits.js";
import { Connection, parseJSON } from "./request.js";
import { type HeadersInit, ResponseHeaders } from "./response.js";

/** What `accept` takes. */
export interface AcceptOptions {
  /** One of those that the client offers, in `subprotocols`. */
  subprotocol?: string;
  /** Headers of the answer to the handshake. */
  headers?: HeadersInit;
}

/** RFC 6455 §7.4.1: not acceptable data. */
const UNSUPPORTED_DATA = 1003;
/** RFC 6455 §7.4.1: a message too big. */
const TOO_BIG = 1009;
/** RFC 6455 §7.4.1: the server met a condition that it did not expect. */
const INTERNAL_ERROR = 1011;
/** RFC 6455 §7.1.5: no status was received. */
const NO_STATUS = 1005;

/** Whether a message has more bytes than the limit; text is encoded only when its length does not tell. */
function isLonger(data: string | Uint8Array, limit: number): boolean {
  if (data.length > limit) return true;
  return typeof data === "string" && data.length * 3 > limit && encodeUTF8(data).length > limit;
}

/**
 * One WebSocket. A handler of `app.websocket` always gets it as `ws`; a dependency by naming the class in its params.
 *
 * @example
 * ```ts
 * import { App } from "tsgi";
 *
 * const app = new App();
 * app.websocket("/echo", async ({ ws }) => {
 *   await ws.accept();
 *   for await (const message of ws) await ws.send(message);
 * });
 * ```
 */
export class WebSocket extends Connection<WebSocketScope> implements AsyncIterable<string | Uint8Array> {
  readonly #receive: Receive;
  readonly #send: Send;
  readonly #limits: Readonly<Limits>;
  #state: "connecting" | "accepted" | "closed" = "connecting";
  #closed: WebSocketException | null = null;

  /** @param limits - Bounds on messages. Defaults to those of an App that sets none. */
  constructor(scope: WebSocketScope, receive: Receive, send: Send, limits: Readonly<Limits> = DEFAULT_LIMITS) {
    super(scope);
    this.#receive = receive;
    this.#send = send;
    this.#limits = limits;
  }

  /** The subprotocols that the client offers, in its order of preference. */
  get subprotocols(): readonly string[] {
    return this.scope.subprotocols ?? [];
  }

  /** Where it stands: `"connecting"` until it is accepted, `"closed"` once either side has closed it. */
  get readyState(): "connecting" | "accepted" | "closed" {
    return this.#state;
  }

  /**
   * Takes the connection.
   *
   * @throws WebSocketException when it was accepted or closed before.
   * @throws TypeError when a header or the subprotocol is not allowed in HTTP.
   */
  async accept(options: AcceptOptions = {}): Promise<void> {
    if (this.#state !== "connecting") throw this.#refusal("accept()");
    const headers = new ResponseHeaders(options.headers).toList();
    const { subprotocol } = options;
    if (subprotocol !== undefined && !this.subprotocols.includes(subprotocol)) {
      throw new TypeError(`The client offers no subprotocol ${JSON.stringify(subprotocol)}.`);
    }
    const message = await this.#receive();
    if (message.type !== "websocket.connect") throw this.#gone(message);
    this.#state = "accepted";
    await this.#send({ type: "websocket.accept", subprotocol: subprotocol ?? null, headers });
  }

  /**
   * Waits for the next message, text or bytes.
   *
   * @throws WebSocketException with the code of the close when there is none any more; before `accept`, at once.
   */
  async receive(): Promise<string | Uint8Array> {
    await this.#assertOpen("receive()");
    const message = await this.#receive();
    if (message.type !== "websocket.receive") throw this.#gone(message);
    const data = message.text ?? message.bytes ?? "";
    if (isLonger(data, this.#limits.webSocketMessageBytes)) {
      await this.close(TOO_BIG, "Message too big");
      throw this.#closed as unknown as WebSocketException;
    }
    return data;
  }

  /** The next message as text. @throws WebSocketException when it is bytes, which closes with 1003, or there is none. */
  async receiveText(): Promise<string> {
    const data = await this.receive();
    return typeof data === "string" ? data : this.#reject("Expected text");
  }

  /** The next message as bytes. @throws WebSocketException when it is text, which closes with 1003, or there is none. */
  async receiveBytes(): Promise<Uint8Array> {
    const data = await this.receive();
    return typeof data === "string" ? this.#reject("Expected bytes") : data;
  }

  /** The next message parsed as JSON. @throws WebSocketException when it is none, which closes with 1003. */
  async receiveJson(): Promise<unknown> {
    const text = await this.receiveText();
    try {
      return parseJSON(encodeUTF8(text), this.#limits.jsonDepth);
    } catch {
      return this.#reject("Expected JSON");
    }
  }

  async #reject(reason: string): Promise<never> {
    await this.close(UNSUPPORTED_DATA, reason);
    throw this.#closed as unknown as WebSocketException;
  }

  /** Sends text or bytes. Resolves when the server takes more. @throws WebSocketException when it is not open. */
  async send(data: string | Uint8Array): Promise<void> {
    await this.#assertOpen("send()");
    await this.#send({ type: "websocket.send", ...(typeof data === "string" ? { text: data } : { bytes: data }) });
  }

  /** Sends text. @throws WebSocketException when it is not open. */
  sendText(text: string): Promise<void> {
    return this.send(text);
  }

  /** Sends bytes. @throws WebSocketException when it is not open. */
  sendBytes(bytes: Uint8Array): Promise<void> {
    return this.send(bytes);
  }

  /** Sends a value as JSON text. @throws WebSocketException when it is not open, TypeError when JSON cannot write it. */
  async sendJson(value: unknown): Promise<void> {
    await this.send(JSON.stringify(value) ?? "null");
  }

  /**
   * Closes it; before `accept` it refuses the handshake. A second call does nothing.
   *
   * @param code - RFC 6455 §7.4: 1000, 1001 to 1015 as the RFC allows them, or 3000 to 4999. Defaults to 1000.
   * @param reason - At most 123 bytes of UTF-8 (§5.5).
   */
  async close(code = 1000, reason = ""): Promise<void> {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#closed = new WebSocketException(code, reason);
    await this.#send({ type: "websocket.close", code, reason });
  }

  /**
   * Refuses the handshake with an HTTP answer, where the server has the extension for it; else with a plain close.
   * For those who drive a connection.
   */
  async refuse(statusCode: number, headers: HeadersInit, body: Uint8Array): Promise<void> {
    if (this.#state !== "connecting" || !this.scope.extensions?.["websocket.http.response"]) {
      return this.close(INTERNAL_ERROR);
    }
    this.#state = "closed";
    const list = new ResponseHeaders(headers);
    list.set("content-length", String(body.length));
    await this.#send({ type: "websocket.http.response.start", status: statusCode, headers: list.toList() });
    await this.#send({ type: "websocket.http.response.body", body });
  }

  /** Each message until the client closes. */
  async *[Symbol.asyncIterator](): AsyncGenerator<string | Uint8Array, void, undefined> {
    while (this.#state !== "closed") {
      try {
        yield await this.receive();
      } catch (error) {
        if (error === this.#closed) return;
        throw error;
      }
    }
  }

  /** The client has closed, or has gone. */
  #gone(message: ReceiveMessage): WebSocketException {
    this.#state = "closed";
    const { code = NO_STATUS, reason = "" } = message.type === "websocket.disconnect" ? message : {};
    return (this.#closed = new WebSocketException(code, reason));
  }

  #refusal(call: string): WebSocketException {
    return new WebSocketException(INTERNAL_ERROR, `${call} on a WebSocket that is ${this.#state}`);
  }

  /** Before `accept` the connection is closed at once: nothing can be sent or received there. */
  async #assertOpen(call: string): Promise<void> {
    if (this.#state === "accepted") return;
    const refusal = this.#closed ?? this.#refusal(call);
    if (this.#state === "connecting") await this.close(INTERNAL_ERROR, `${call} before accept()`);
    throw refusal;
  }

  /** Whether the error only says that the WebSocket has closed, which ends a handler as well as a return does. */
  isOwnEnd(error: unknown): boolean {
    return error !== null && error === this.#closed;
  }
}
