/** Pings that find WebSocket clients which have vanished without a close frame, or read nothing. @module */

import type { ClientProgress, Reading } from "./client-progress.js";

/** A WebSocket that is pinged. */
export interface PingedSocket {
  readonly isPaused: boolean;
  readonly progress: Pick<ClientProgress, "forgetPing" | "isPongLate">;
  /** Tells if the client has read something since the last call, which is once per round. `now` is in milliseconds. */
  reading(now: number): Reading;
  ping(now: number): void;
  terminate(): void;
}

/** Pings all WebSockets of a server with one timer, and ends those that did not answer the last ping or read nothing since. */
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
    const now = performance.now();
    for (const socket of this.#sockets) {
      const reading = socket.reading(now);
      // The pong of one that is paused may be among what the application has not asked for yet. Attack: a client that sends
      // and reads nothing pauses its WebSocket, which would keep its memory.
      if (reading === "stalled" || (reading === "idle" && socket.progress.isPongLate(now) && !socket.isPaused)) {
        socket.terminate();
      } else if (reading === "idle") {
        socket.ping(now);
      } else {
        socket.progress.forgetPing(); // a client that reads is there, and reads a ping last
      }
    }
  }
}
