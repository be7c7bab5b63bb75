/** Pings that find WebSocket clients which have vanished without a close frame. @module */
import type { WebSocket } from "ws";

/** Pings all WebSockets of a server at once, with one timer, and cuts those that did not answer the last time. */
export class PingRound {
  readonly #everyMs: number;
  readonly #waiting = new Set<WebSocket>();
  readonly #answered = new Set<WebSocket>();
  #timer: NodeJS.Timeout | undefined;
  readonly #onPong: (this: WebSocket) => void;
  readonly #onClose: (this: WebSocket) => void;

  /** @param everyMs - Milliseconds between two pings; 0 for none. */
  constructor(everyMs: number) {
    this.#everyMs = everyMs;
    const waiting = this.#waiting;
    const answered = this.#answered;
    const forget = (webSocket: WebSocket) => this.#delete(webSocket);
    this.#onClose = function () {
      forget(this);
    };
    this.#onPong = function () {
      if (waiting.delete(this)) {
        answered.add(this);
      }
    };
  }

  /** Takes a WebSocket into the round, until it closes. */
  add(webSocket: WebSocket): void {
    if (this.#everyMs > 0) {
      this.#answered.add(webSocket);
      webSocket.on("pong", this.#onPong);
      webSocket.on("close", this.#onClose);
      // Behind what has arrived while the loop was busy: a pong may be among it.
      this.#timer ??= setInterval(() => setImmediate(() => this.#ping()), this.#everyMs).unref();
    }
  }

  #delete(webSocket: WebSocket): void {
    this.#waiting.delete(webSocket);
    this.#answered.delete(webSocket);
    if (this.#waiting.size + this.#answered.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }

  #ping(): void {
    for (const webSocket of this.#waiting) {
      if (webSocket.isPaused) {
        webSocket.ping(); // its pong may be among what the application has not asked for yet
      } else {
        webSocket.terminate();
      }
    }
    for (const webSocket of this.#answered) {
      this.#waiting.add(webSocket);
      webSocket.ping();
    }
    this.#answered.clear();
  }
}
