/** Pings that detect WebSocket clients which have vanished without a close frame, or do not read. @module */

import { clearInterval, performance, setImmediate, setInterval } from "../../../common/timers.js";
import { MIN_BYTES_PER_MS, takenBytesOf, unsentBytesOf, type WriteCounts } from "../slow-reader.js";

/** `idle`: no bytes wait for the client. `stalled`: some do, and it has read no bytes since the last round. */
export type Reading = "idle" | "reading" | "stalled";

/** The most that Linux buffers for a connection by default, in bytes (`tcp_wmem`): a ping waits after it. */
const MAX_HELD_BYTES = 4_194_304;

/** Watches the client of a socket in rounds. */
export class ClientProgress {
  /** When the client was last seen to take something, in milliseconds; `Infinity` while no bytes wait. */
  #takenAt = Infinity;
  #takenBytes = 0;
  /** When the ping was sent whose pong is awaited, in milliseconds; `Infinity` without one. */
  #pingedAt = Infinity;
  /** Bytes written before the last ping, and before the last acknowledged one. */
  #pingBytes = 0;
  #repliedBytes = 0;

  /** @param now - In milliseconds, by a clock that never goes back. */
  check(socket: WriteCounts, now: number): Reading {
    const waiting = socket.writableLength;
    const takenBytes = takenBytesOf(socket);
    // The number of bytes that wait does not tell: messages of one size leave the same number at each check.
    if (waiting === 0) this.#takenAt = Infinity;
    else if (takenBytes !== this.#takenBytes || this.#takenAt === Infinity) this.#takenAt = now;
    this.#takenBytes = takenBytes;
    if (waiting === 0) return "idle";
    const stalledMs = now - this.#takenAt;
    // Without a live count of the bytes that wait, a client gets more time for them, as for a response.
    const allowedMs = unsentBytesOf(socket) > 0 ? 0 : waiting / MIN_BYTES_PER_MS;
    return stalledMs > 0 && stalledMs >= allowedMs ? "stalled" : "reading";
  }

  /** A ping is sent. */
  pinged({ bytesWritten }: WriteCounts, now: number): void {
    if (this.#pingedAt !== Infinity) return;
    this.#pingedAt = now;
    this.#pingBytes = bytesWritten;
  }

  /** A pong has come. */
  ponged(): void {
    this.#repliedBytes = this.#pingBytes;
    this.#pingedAt = Infinity;
  }

  /** The client is there: its pong is not awaited. */
  forgetPing(): void {
    this.#pingedAt = Infinity;
  }

  /**
   * Tells if a pong is late. A client reads the ping last, after all bytes that the system has accepted and buffers for
   * it.
   */
  isPongLate(now: number): boolean {
    const heldBytes = Math.min(this.#pingBytes - this.#repliedBytes, MAX_HELD_BYTES);
    return now - this.#pingedAt >= heldBytes / MIN_BYTES_PER_MS;
  }
}

/** A WebSocket that is pinged. */
export interface PingedSocket {
  readonly isPaused: boolean;
  readonly progress: Pick<ClientProgress, "forgetPing" | "isPongLate">;
  /** Tells if the client has read something since the last call, which is once per round. `now` is in milliseconds. */
  reading(now: number): Reading;
  ping(now: number): void;
  terminate(): void;
}

/**
 * Pings all WebSockets of a server with one timer, and ends those that did not reply to the last ping or have not read
 * since.
 */
export class PingRound {
  readonly #everyMs: number;
  readonly #sockets = new Set<PingedSocket>();
  #timer: NodeJS.Timeout | undefined;

  /** @param everyMs - Milliseconds between two pings; 0 for no pings. */
  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  add(socket: PingedSocket): void {
    if (this.#everyMs === 0) return;
    this.#sockets.add(socket);
    // After the data that has arrived while the event loop was busy, which may contain a pong.
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
      // The pong of a paused one may be in data that the application has not read yet. Attack: a client that sends
      // without reading pauses its WebSocket, which would keep its memory.
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
