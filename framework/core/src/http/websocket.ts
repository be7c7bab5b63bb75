/** The WebSocket of a handler. @module */
import type {
  Receive,
  ReceiveMessage,
  Send,
  SendMessage,
  WebSocketScope,
  WebSocketSendMessage,
} from "../protocol/asgi.js";
import { asBytes, isLonger } from "../protocol/bytes.js";
import { encodeUTF8 } from "../protocol/header-list.js";
import { disconnectReason, MarkedGenerator, markHandled, markMethods, RESOLVED } from "../common/promises.js";
import { ClientDisconnect, findCloseFault, WebSocketException } from "../common/exceptions.js";
import { DEFAULT_LIMITS, type Limits } from "./limits.js";
import { ERROR_WRITER, type WithErrorWriter } from "../protocol/error-format.js";
import { errorResponse } from "./error-format.js";
import { CALL, type CalledScope } from "../protocol/server-context.js";
import { HTTPConnection, LEFT } from "./request.js";
import { receiveAhead } from "./websocket/receive-ahead.js";
import { parseJSON } from "./request/json.js";
import { type HeadersInit, ResponseHeaders } from "./response/headers.js";
import type { Response } from "./response/response.js";

/**
 * The extension of servers that bound a message before it is in memory: they take the bound with `websocket.accept`, as
 * `max_message_bytes`.
 */
const MESSAGE_LIMIT = "tsgi.websocket.message_limit";

/**
 * Rejects the handshake with an HTTP response if the server supports it; otherwise with a close: 1011 for a 5xx status,
 * 1008 for another.
 */
export const REFUSE: unique symbol = Symbol("refuse");
/** The signal that aborts when the client disconnects. */
export const SIGNAL: unique symbol = Symbol("signal");
/** Tells if an error is the end of the WebSocket itself, which ends a handler as a return does. */
export const IS_OWN_END: unique symbol = Symbol("isOwnEnd");

/** Options of `accept`. */
export interface AcceptOptions {
  /** One of those that the client offers, in `subprotocols`. */
  subprotocol?: string;
  /** Headers of the response to the handshake. */
  headers?: HeadersInit;
}

/** The rules of the JSON messages of a WebSocket; `null` if a route has no schema. */
export interface MessageRules {
  /** Checks the result or the error of `parse`. Gives the value, `null` for a message that does not fit. */
  readonly receive: ((parse: () => unknown) => Promise<{ readonly value: unknown } | null>) | null;
  /**
   * Validates a value, removes unknown properties, and returns its JSON text. @throws ResponseValidationError if it
   * does not match.
   */
  readonly send: ((value: unknown) => Promise<string>) | null;
}

const NO_RULES: MessageRules = { receive: null, send: null };

/** A message parsed as JSON, of the type of the option `receives`, or any value without it. */
type JSONMessage<Message> = [string | Uint8Array] extends [Message] ? unknown : Message;

// RFC 6455 §7.4.1
const UNSUPPORTED_DATA = 1003;
const NO_STATUS = 1005;
const ABNORMAL = 1006;
const INVALID_PAYLOAD = 1007;
const POLICY_VIOLATION = 1008;
const TOO_BIG = 1009;
const INTERNAL_ERROR = 1011;

function toMessage(data: unknown): WebSocketSendMessage | null {
  if (typeof data === "string") return { type: "websocket.send", text: data };
  return data instanceof Uint8Array ? { type: "websocket.send", bytes: data } : null;
}

/**
 * The WebSocket of a handler whose route has the options `receives` or `sends`: a {@link WebSocket} with the types of the
 * messages.
 *
 * @typeParam Message - Messages as they are iterated: text and bytes, or the values of `receives`.
 * @typeParam Sent - Values for `sendJson`, of the type of `sends`, or any value without it.
 * @example
 * ```ts
 * import { App, t } from "tsgi";
 *
 * const app = new App();
 * const Said = t.Object({ text: t.String() });
 * app.websocket("/chat", { receives: Said, sends: Said }, async ({ ws }) => {
 *   await ws.accept();
 *   for await (const { text } of ws) await ws.sendJson({ text: `You said ${text}` });
 * });
 * ```
 */
export class TypedWebSocket<Message = string | Uint8Array, Sent = unknown>
  extends HTTPConnection<WebSocketScope>
  implements AsyncIterable<Message>
{
  #receive: Receive;
  readonly #send: Send;
  readonly #limits: Readonly<Limits>;
  readonly #rules: MessageRules;
  #state: "connecting" | "accepted" | "closed" = "connecting";
  #closed: WebSocketException | null = null;
  /** `true` once this side has closed. The signal does not abort then. */
  #hasClosed = false;
  #abort: AbortController | null = null;

  static {
    // `receive` and `send` mark their own, and only what may reject. The block has no variables, because Vite's transform
    // for servers moves them out of it.
    markMethods(TypedWebSocket.prototype, [
      "accept",
      "receiveText",
      "receiveBytes",
      "receiveJson",
      "sendText",
      "sendBytes",
      "sendJson",
      "close",
      REFUSE,
    ]);
  }

  /**
   * @param limits - Bounds on messages. Defaults to the limits of an App without options.
   * @param rules - Those of JSON messages. Empty by default.
   */
  constructor(
    scope: WebSocketScope,
    receive: Receive,
    send: Send,
    limits: Readonly<Limits> = DEFAULT_LIMITS,
    rules: MessageRules = NO_RULES,
  ) {
    super(scope);
    this.#receive = receive;
    this.#send = send;
    this.#limits = limits;
    this.#rules = rules;
  }

  /** The subprotocols that the client offers, in its order of preference. */
  get subprotocols(): readonly string[] {
    return this.scope.subprotocols ?? [];
  }

  /** `"connecting"` until it is accepted, `"closed"` once either side has closed it. */
  get readyState(): "connecting" | "accepted" | "closed" {
    return this.#state;
  }

  /**
   * Takes the connection.
   *
   * @throws WebSocketException if it was accepted or closed before, or the client has disconnected.
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
    const limit = this.scope.extensions?.[MESSAGE_LIMIT]
      ? { max_message_bytes: this.#limits.webSocketMessageBytes }
      : {};
    await this.#deliver({ type: "websocket.accept", subprotocol: subprotocol ?? null, headers, ...limit });
  }

  /**
   * Waits for the next message, text or bytes.
   *
   * @throws WebSocketException with the code of the close once it has ended; before `accept`, at once.
   */
  receive(): Promise<string | Uint8Array> {
    return markHandled(this.#receiveAny());
  }

  #receiveAny(): Promise<string | Uint8Array> {
    if (this.#state !== "accepted") return this.#throwNotOpen("receive()");
    return this.#receive().then((message) => this.#contentOf(message));
  }

  #contentOf(message: ReceiveMessage): string | Uint8Array | Promise<never> {
    if (message.type !== "websocket.receive") throw this.#gone(message);
    const data = message.text ?? (message.bytes ? asBytes(message.bytes) : "");
    return isLonger(data, this.#limits.webSocketMessageBytes) ? this.#reject(TOO_BIG, "Message too big") : data;
  }

  /** The next message as text. @throws WebSocketException when it is bytes, which closes with 1003, or the WebSocket has ended. */
  async receiveText(): Promise<string> {
    const data = await this.receive();
    return typeof data === "string" ? data : this.#reject(UNSUPPORTED_DATA, "Expected text");
  }

  /** The next message as bytes. @throws WebSocketException when it is text, which closes with 1003, or the WebSocket has ended. */
  async receiveBytes(): Promise<Uint8Array> {
    const data = await this.receive();
    return typeof data === "string" ? this.#reject(UNSUPPORTED_DATA, "Expected bytes") : data;
  }

  /**
   * The next message parsed as JSON, and checked where the route has the option `receives`.
   *
   * @throws WebSocketException when it is not JSON, which closes with 1003, with `receives` with 1007; when it does not fit.
   */
  async receiveJson(): Promise<JSONMessage<Message>> {
    const { receive } = this.#rules;
    const value = receive === null ? await this.#receiveAnyJson() : await this.#receiveFitting(receive);
    return value as JSONMessage<Message>; // the type of the handler's own schema
  }

  async #receiveAnyJson(): Promise<unknown> {
    const text = await this.receiveText();
    try {
      return this.#parse(text);
    } catch {
      return this.#reject(UNSUPPORTED_DATA, "Expected JSON");
    }
  }

  async #receiveFitting(receive: NonNullable<MessageRules["receive"]>): Promise<unknown> {
    const data = await this.receive();
    const checked = await receive(() => this.#parse(data));
    return checked === null ? this.#reject(INVALID_PAYLOAD, "Invalid message") : checked.value;
  }

  #parse(data: string | Uint8Array): unknown {
    if (typeof data !== "string") throw new TypeError("JSON is sent as text.");
    return parseJSON(encodeUTF8(data), this.#limits.jsonDepth);
  }

  async #reject(code: number, reason: string): Promise<never> {
    this.#hasClosed = true;
    const closed = this.#ended(new WebSocketException(code, reason));
    await this.#deliver({ type: "websocket.close", code, reason });
    throw closed;
  }

  /**
   * Sends text or bytes. Resolves when the server takes more.
   *
   * @throws WebSocketException if it is not open, or the client has disconnected.
   */
  send(data: string | Uint8Array): Promise<void> {
    const message = toMessage(data);
    if (message !== null && this.#state === "accepted") return this.#deliver(message);
    return markHandled(message === null ? this.#throwNoMessage(data) : this.#throwNotOpen("send()"));
  }

  async #throwNoMessage(data: unknown): Promise<never> {
    throw new TypeError(`Expected text or a Uint8Array to send, not ${data === null ? "null" : typeof data}.`);
  }

  /** Sends text. @throws WebSocketException when it is not open. */
  async sendText(text: string): Promise<void> {
    if (typeof text !== "string") throw new TypeError(`Expected text to send, not ${typeof text}.`);
    await this.send(text);
  }

  /** Sends bytes. @throws WebSocketException when it is not open. */
  async sendBytes(bytes: Uint8Array): Promise<void> {
    if (typeof bytes === "string") throw new TypeError("Expected bytes to send, not text.");
    await this.send(bytes);
  }

  /** Hands a message to the server. */
  #deliver(message: SendMessage): Promise<void> {
    try {
      const sent = this.#send(message);
      return sent ? markHandled(this.#untilSent(sent)) : RESOLVED;
    } catch (error) {
      return markHandled(this.#throwUnsent(error));
    }
  }

  async #untilSent(sent: Promise<void>): Promise<void> {
    try {
      await sent;
    } catch (error) {
      await this.#throwUnsent(error);
    }
  }

  /** A disconnected client ends this side too. */
  async #throwUnsent(error: unknown): Promise<never> {
    if (!(error instanceof ClientDisconnect)) throw error;
    this.#leave();
    throw this.#ended(new WebSocketException(ABNORMAL, "The client has disconnected"));
  }

  /**
   * Sends a value as JSON text, checked and cut where the route has the option `sends`.
   *
   * @throws WebSocketException when it is not open.
   * @throws TypeError when JSON cannot write it.
   * @throws ResponseValidationError when it does not fit `sends`.
   */
  async sendJson(value: Sent): Promise<void> {
    const { send } = this.#rules;
    await this.send(send === null ? (JSON.stringify(value) ?? "null") : await send(value));
  }

  /**
   * Closes it; before `accept` it refuses the handshake. A second call has no effect.
   *
   * @param code - RFC 6455 §7.4: 1000 to 1003, 1007 to 1014, or 3000 to 4999. Defaults to 1000. Before `accept`, the
   *   Node server responds with 403, except for 4000 to 4999: then it completes the handshake, so that a browser sees
   *   the code.
   * @param reason - At most 123 bytes of UTF-8 (§5.5).
   * @throws RangeError when the code or the reason may not be sent; it stays open then.
   */
  async close(code = 1000, reason = ""): Promise<void> {
    const fault = findCloseFault(code, reason);
    if (fault !== null) throw new RangeError(fault);
    if (this.#state === "closed") return;
    const { [ERROR_WRITER]: writer }: WebSocketScope & WithErrorWriter = this.scope;
    // A server would write it too, without the facts about the request.
    if (writer && this.#canRespond && code < 4000) return this[REFUSE](errorResponse(this, { status: 403 }));
    this.#hasClosed = true;
    this.#ended(new WebSocketException(code, reason));
    try {
      await this.#send({ type: "websocket.close", code, reason });
    } catch (error) {
      if (!(error instanceof ClientDisconnect)) throw error; // it is closed, as requested
    }
  }

  /** `true` while a whole HTTP response can reject the handshake. */
  get #canRespond(): boolean {
    return this.#state === "connecting" && this.scope.extensions?.["websocket.http.response"] !== undefined;
  }

  /** @internal */
  async [REFUSE]({ statusCode, headers, body }: Response): Promise<void> {
    if (!this.#canRespond) return this.close(statusCode >= 500 ? INTERNAL_ERROR : POLICY_VIOLATION);
    this.#hasClosed = true;
    this.#ended(new WebSocketException(ABNORMAL, "The handshake was refused"));
    headers.set("content-length", String(body.length));
    try {
      await this.#deliver({ type: "websocket.http.response.start", status: statusCode, headers: headers.toList() });
      await this.#deliver({ type: "websocket.http.response.body", body });
    } catch (error) {
      if (!this[IS_OWN_END](error)) throw error; // the client has disconnected
    }
  }

  /** Each message until the client closes: a value where the route has the option `receives`, else text or bytes. */
  [Symbol.asyncIterator](): AsyncGenerator<Message, void, undefined> {
    return new MarkedGenerator(this.#messages());
  }

  async *#messages(): AsyncGenerator<Message, void, undefined> {
    const receive = () =>
      this.#rules.receive === null ? this.#receiveAny() : this.#receiveFitting(this.#rules.receive);
    while (this.#state !== "closed") {
      try {
        yield receive() as Promise<Message>; // the type parameter says which of the two it is
      } catch (error) {
        if (error === this.#closed) return;
        throw error;
      }
    }
  }

  /** The client has closed, or has disconnected. */
  #gone(message: ReceiveMessage): WebSocketException {
    this.#leave();
    const { code, reason } = message.type === "websocket.disconnect" ? message : {};
    return this.#ended(new WebSocketException(code ?? NO_STATUS, reason ?? ""));
  }

  /** Keeps how it ended; the first end counts. */
  #ended(how: WebSocketException): WebSocketException {
    this.#state = "closed";
    return (this.#closed ??= how);
  }

  /** @internal */
  get [SIGNAL](): AbortSignal {
    if (this.#abort === null) {
      this.#abort = new AbortController();
      if (this.#closed !== null) this.#leave();
      else this.#watch();
    }
    return this.#abort.signal;
  }

  /** On other servers, only a message reports that the client disconnects, so messages are received ahead. */
  #watch(): void {
    const { [CALL]: call }: WebSocketScope & CalledScope = this.scope;
    if (call?.whenEnded) call.whenEnded(() => this.#leave());
    else this.#receive = receiveAhead(this.#receive, () => this.#leave());
  }

  #leave(): void {
    if (!this.#hasClosed) this.#abort?.abort(disconnectReason());
  }

  /** @internal */
  get [LEFT](): boolean {
    return this.#abort?.signal.aborted === true;
  }

  #refusal(call: string): WebSocketException {
    return new WebSocketException(INTERNAL_ERROR, `${call} on a WebSocket that is ${this.#state}`);
  }

  /** Before `accept`, the connection is closed immediately: no messages can be sent or received there. */
  async #throwNotOpen(call: string): Promise<never> {
    const refusal = this.#closed ?? this.#refusal(call);
    if (this.#state === "connecting") await this.close(INTERNAL_ERROR, `${call} before accept()`);
    throw refusal;
  }

  /** @internal */
  [IS_OWN_END](error: unknown): boolean {
    return error !== null && error === this.#closed;
  }
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
export class WebSocket extends TypedWebSocket {}
