/** A client in memory that reads as slowly as it likes, and may go. */
import type { ASGIApp, HTTPResponseBodyMessage, HTTPScope, SendMessage } from "../../core/src/protocol/asgi.js";

/** One request to an application, whose messages are looked at as they come. */
export class MemoryClient {
  readonly messages: SendMessage[] = [];
  /** Settles when the application does. */
  readonly ended: Promise<void>;
  /** While it is set, `send` waits: the client does not read. */
  #stopped: { readonly promise: Promise<void>; readonly resume: () => void } | null = null;
  #wake: () => void = () => {};
  #leave: () => void = () => {};

  constructor(app: ASGIApp, method: string, path: string, headers: readonly (readonly [string, string])[] = []) {
    const left = new Promise<{ type: "http.disconnect" }>((resolve) => {
      this.#leave = () => resolve({ type: "http.disconnect" });
    });
    let isAsked = false;
    const scope: HTTPScope = {
      type: "http",
      method,
      path,
      headers: headers.map(([name, value]) => [Buffer.from(name), Buffer.from(value)] as const),
    };
    this.ended = app(
      scope,
      () => {
        if (isAsked) return left;
        isAsked = true;
        return Promise.resolve({ type: "http.request", body: new Uint8Array(0), more_body: false });
      },
      (message) => {
        this.messages.push(message);
        this.#wake();
        return this.#stopped?.promise;
      },
    );
    this.ended.catch(() => {}).finally(() => this.#wake());
  }

  /** Stops reading with the next message. */
  stop(): void {
    let resume = () => {};
    const promise = new Promise<void>((resolve) => (resume = resolve));
    this.#stopped = { promise, resume };
  }

  /** Reads on. */
  resume(): void {
    this.#stopped?.resume();
    this.#stopped = null;
  }

  /** Goes. */
  leave(): void {
    this.#leave();
  }

  get bodies(): HTTPResponseBodyMessage[] {
    return this.messages.filter((message) => message.type === "http.response.body");
  }

  get text(): string {
    return Buffer.concat(this.bodies.map(({ body }) => body ?? new Uint8Array(0))).toString();
  }

  /** Waits until this many messages have come. */
  async received(count: number): Promise<void> {
    while (this.messages.length < count) await new Promise<void>((resolve) => (this.#wake = resolve));
  }
}
