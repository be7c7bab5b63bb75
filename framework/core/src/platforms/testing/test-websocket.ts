/** The client side of a WebSocket in tests. @module */
import { asBytes } from "../../protocol/bytes.js";
import { HeaderList, parseHeaders } from "../../protocol/header-list.js";
import { findCloseFault, type WebSocketException } from "../../common/exceptions.js";
import { nextTurn } from "../../common/promises.js";
import type { Acceptance } from "../../protocol/websocket-handshake.js";
import type { MemoryWebSocket } from "./memory-websocket.js";

/**
 * Waits until the application has accepted the WebSocket that it is called for.
 *
 * @throws WebSocketRefusedError with status and close code, when it does not.
 */
export const CONNECT: unique symbol = Symbol("connect");

/**
 * The client's end of a WebSocket whose other end is a handler, in memory.
 *
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { TestClient } from "tsgi/testing";
 *
 * const app = new App();
 * app.websocket("/echo", async ({ ws }) => {
 *   await ws.accept();
 *   for await (const message of ws) await ws.send(message);
 * });
 * await using client = await TestClient.open(app);
 * await using ws = await client.websocket("/echo");
 * await ws.sendText("hello");
 * console.log(await ws.receiveText()); // hello
 * ```
 */
export class TestWebSocket implements AsyncIterable<string | Uint8Array>, AsyncDisposable {
  /** The subprotocol that the application has selected, or `null`. */
  readonly subprotocol: string | null;
  /** The headers of the response to the handshake, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly #call: MemoryWebSocket;

  private constructor(call: MemoryWebSocket, { subprotocol, headers }: Acceptance) {
    this.#call = call;
    this.subprotocol = subprotocol;
    this.headers = parseHeaders(new HeaderList(headers));
  }

  /** @internal */
  static async [CONNECT](call: MemoryWebSocket): Promise<TestWebSocket> {
    try {
      return new TestWebSocket(call, await call.handshake);
    } catch (refusal) {
      await call.settled;
      throw refusal;
    }
  }

  /** Resolves with code and reason when either side has closed it. */
  get closed(): Promise<WebSocketException> {
    return this.#call.closed;
  }

  /** Sends text or bytes. @throws WebSocketException when it is closed. */
  send(data: string | Uint8Array): Promise<void> {
    return typeof data === "string" ? this.sendText(data) : this.sendBytes(data);
  }

  /** Sends text. @throws WebSocketException when it is closed. */
  sendText(text: string): Promise<void> {
    return this.#call.deliver(text);
  }

  /** Sends bytes. @throws WebSocketException when it is closed. */
  sendBytes(bytes: Uint8Array): Promise<void> {
    return this.#call.deliver(asBytes(bytes.slice()));
  }

  /** Sends a value as JSON text. @throws WebSocketException when it is closed. */
  sendJson(value: unknown): Promise<void> {
    return this.sendText(JSON.stringify(value) ?? "null");
  }

  /**
   * Waits for the next message, text or bytes. Data that was sent before a close is read before it.
   *
   * @throws WebSocketException with code and reason once it has ended.
   */
  receive(): Promise<string | Uint8Array> {
    return this.#call.inbox.take();
  }

  /** The next message as text. @throws TypeError when it is bytes, WebSocketException once the WebSocket has ended. */
  async receiveText(): Promise<string> {
    const message = await this.receive();
    if (typeof message !== "string") throw new TypeError(`Expected text, received ${message.length} bytes.`);
    return message;
  }

  /** The next message as bytes. @throws TypeError when it is text, WebSocketException once the WebSocket has ended. */
  async receiveBytes(): Promise<Uint8Array> {
    const message = await this.receive();
    if (typeof message === "string") throw new TypeError(`Expected bytes, received ${JSON.stringify(message)}.`);
    return message;
  }

  /** The next message parsed as JSON. @throws SyntaxError when it is not JSON, and what `receiveText` throws. */
  async receiveJson(): Promise<unknown> {
    return JSON.parse(await this.receiveText());
  }

  /** Each message until it is closed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<string | Uint8Array, void, undefined> {
    for (;;) {
      const message = await this.receive().catch(() => null); // it only rejects at the end
      if (message === null) return;
      yield message;
    }
  }

  /**
   * Closes it, and waits until the handler has ended, cleanup and background tasks included. On one that is closed it
   * only waits.
   *
   * @throws RangeError when code or reason may not be sent.
   */
  async close(code = 1000, reason = ""): Promise<void> {
    const fault = findCloseFault(code, reason);
    if (fault !== null) throw new RangeError(fault);
    this.#call.leave(code, reason);
    await this.#call.settled;
  }

  /** Goes without a close frame, as a client does whose network is cut: the handler sees 1006. Waits as `close` does. */
  async terminate(): Promise<void> {
    await nextTurn(); // as over a network: the handler has received the messages before
    this.#call.destroy();
    await this.#call.settled;
  }

  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
