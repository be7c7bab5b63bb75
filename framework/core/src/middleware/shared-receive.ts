/** The body of a request, read by a middleware and the application. @module */
import type { Receive, ReceiveMessage } from "../protocol/asgi.js";
import { createBytes } from "../protocol/bytes.js";
import { markHandled } from "../common/promises.js";

/**
 * One `receive` for two readers: a middleware, which may look at the body before the application does, and the
 * application, which gets the whole body all the same.
 */
export class SharedReceive {
  readonly #receive: Receive;
  /** Messages that the application has not taken. */
  readonly #kept: ReceiveMessage[] = [];
  #pulling: Promise<ReceiveMessage> | null = null;
  #middlewareWaits = false;
  /** The part of the body that the application has taken past the middleware. */
  #missed: "nothing" | "an empty body" | "bytes" = "nothing";

  #gone = false;

  constructor(receive: Receive) {
    this.#receive = receive;
  }

  /** `true` once either reader was told that the client has gone. */
  get gone(): boolean {
    return this.#gone;
  }

  /**
   * The reader of the middleware. It fails rather than waits for bytes that the application has taken, since the
   * application may be waiting for the middleware.
   */
  readonly forMiddleware: Receive = () => markHandled(this.#receiveForMiddleware());

  async #receiveForMiddleware(): Promise<ReceiveMessage> {
    if (this.#missed === "bytes") {
      throw new TypeError("The body has gone to the application. A middleware reads it before it calls next().");
    }
    if (this.#missed === "an empty body") {
      this.#missed = "nothing";
      return { type: "http.request", body: createBytes(0), more_body: false };
    }
    this.#middlewareWaits = true;
    return this.#pull();
  }

  /** The reader of the application. */
  readonly forApplication: Receive = () => markHandled(this.#receiveForApplication());

  async #receiveForApplication(): Promise<ReceiveMessage> {
    for (;;) {
      const message = this.#kept.shift();
      if (message !== undefined) return message;
      await this.#pull();
    }
  }

  /** Takes one message from the server. Two readers at a time share it. */
  #pull(): Promise<ReceiveMessage> {
    return (this.#pulling ??= this.#receive().then(
      (message) => {
        this.#pulling = null;
        this.#gone ||= message.type === "http.disconnect";
        this.#kept.push(message);
        if (!this.#middlewareWaits) this.#miss(message);
        this.#middlewareWaits = false;
        return message;
      },
      (error: unknown) => {
        this.#pulling = null;
        throw error;
      },
    ));
  }

  #miss(message: ReceiveMessage): void {
    if (message.type !== "http.request") return;
    if (message.body !== undefined && message.body.length > 0) this.#missed = "bytes";
    else if (message.more_body !== true && this.#missed === "nothing") this.#missed = "an empty body";
  }
}
