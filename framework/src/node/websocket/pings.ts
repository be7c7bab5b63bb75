/** Pings that find WebSocket clients which have vanished without a close frame. @module */

/** A WebSocket that is pinged. */
export interface PingedSocket {
  readonly isPaused: boolean;
  /** `true` from a ping until its pong. */
  awaitsPong: boolean;
  ping(): void;
  terminate(): void;
}

/** Pings all WebSockets of a server at once, with one timer, and cuts those that did not answer the last time. */
export class PingRound {
  readonly #everyMs: number;
  readonly #sockets = new Set<PingedSocket>();
  #timer: NodeJS.Timeout | undefined;

  /** @param everyMs - Milliseconds between two pings; 0 for none. */
  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  add(socket: PingedSocket): void {
    if (this.#everyMs === 0) return;
    this.#sockets.add(socket);
    // Behind what has arrived while the loop was busy: a pong may be among it.
    this.#timer ??= setInterval(() => setImmediate(() => this.#ping()), this.#everyMs).unref();
  }

  delete(socket: PingedSocket): void {
    this.#sockets.delete(socket);
    if (this.#sockets.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #ping(): void {
    for (const socket of this.#sockets) {
      // The pong of one that is paused may be among what the application has not asked for yet.
      if (socket.awaitsPong && !socket.isPaused) {
        socket.terminate();
      } else {
        socket.awaitsPong = true;
        socket.ping();
      }
    }
  }
}
