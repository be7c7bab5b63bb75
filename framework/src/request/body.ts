import type { Receive } from "../asgi.js";
import { ChunkQueue } from "./chunk-queue.js";
import { ClientDisconnect, HTTPException } from "../exceptions.js";

/**
 * The body of one request as it comes in. Everything that reads from the server goes through here, so that a reader
 * of the body and a watcher of the connection never take messages from each other.
 */
export class IncomingBody {
  readonly #receive: Receive;
  readonly #waiting = new ChunkQueue();
  #ended = false;
  #gone = false;
  #reading: Promise<void> | null = null;
  #onGone: (() => void) | null = null;

  constructor(receive: Receive) {
    this.#receive = receive;
  }

  /** Whether the client has gone. */
  get gone(): boolean {
    return this.#gone;
  }

  /** Takes one message from the server. Two callers at a time share it. */
  #pull(): Promise<void> {
    return (this.#reading ??= this.#receive().then(
      (message) => {
        this.#reading = null;
        if (message.type === "http.request") {
          if (message.body) this.#waiting.push(message.body);
          if (!message.more_body) this.#ended = true;
        } else if (message.type === "http.disconnect") {
          this.#gone = true;
          this.#onGone?.();
        }
      },
      (error: unknown) => {
        this.#reading = null;
        throw error;
      },
    ));
  }

  /**
   * The next part of the body, or `null` at its end.
   *
   * @throws ClientDisconnect when the client goes before the end.
   */
  async next(): Promise<Uint8Array | null> {
    for (;;) {
      const chunk = this.#waiting.shift();
      if (chunk) return chunk;
      if (this.#ended) return null;
      if (this.#gone) throw new ClientDisconnect();
      await this.#pull();
    }
  }

  /**
   * The whole body.
   *
   * @throws HTTPException 413 as soon as there are more than `limit` bytes.
   */
  async readAll(limit: number): Promise<Uint8Array> {
    for (;;) {
      if (this.#waiting.bytes > limit) throw new HTTPException(413, `The body is larger than ${limit} bytes`);
      if (this.#ended) return this.#waiting.takeAll();
      if (this.#gone) throw new ClientDisconnect();
      await this.#pull();
    }
  }

  /** Calls `onGone` once when the client goes. Reads ahead at most one message while nobody else reads. */
  watch(onGone: () => void): void {
    if (this.#gone) return onGone();
    this.#onGone = onGone;
    const step = async (): Promise<void> => {
      while (!this.#gone && (this.#ended || this.#waiting.isEmpty)) await this.#pull();
    };
    step().catch(() => {
      // The server's `receive` failed: whoever reads the body next gets that error.
    });
  }

  /** Looks whether the client has gone, without waiting for it to go. */
  async poll(): Promise<boolean> {
    if (!this.#gone && (this.#ended || this.#waiting.isEmpty)) {
      await Promise.race([this.#pull(), nextTurn()]);
    }
    return this.#gone;
  }
}

/** Long enough for a server to answer a `receive` that needs no waiting. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
}
