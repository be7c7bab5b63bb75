/** Finds clients that read nothing. @module */
import { MIN_BYTES_PER_MS, SlowReader, takenBytesOf, unsentBytesOf, type WriteCounts } from "../slow-reader.js";

/** `idle`: no bytes wait for the client. `stalled`: some do, and it has read none since the last round. */
export type Reading = "idle" | "reading" | "stalled";

/** The most that Linux holds of a connection by default, in bytes (`tcp_wmem`): a ping waits behind it. */
const MAX_HELD_BYTES = 4_194_304;

/** Watches the client of a socket in rounds. */
export class ClientProgress {
  readonly #reader = new SlowReader();
  /** When the ping was sent whose pong is awaited, in milliseconds; `Infinity` for none. */
  #pingedAt = Infinity;
  /** Bytes written before the last ping, and before the last one that was answered. */
  #pingBytes = 0;
  #answeredBytes = 0;

  /** @param now - In milliseconds, by a clock that never goes back. */
  check(socket: WriteCounts, now: number): Reading {
    const waiting = socket.writableLength;
    const stalledMs = this.#reader.stalledMs(takenBytesOf(socket), waiting, now);
    if (waiting === 0) return "idle";
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
    this.#answeredBytes = this.#pingBytes;
    this.#pingedAt = Infinity;
  }

  /** The client is there: its pong is not awaited. */
  forgetPing(): void {
    this.#pingedAt = Infinity;
  }

  /** Tells if a pong is late. A client reads the ping last, after all that the system has accepted and holds for it. */
  isPongLate(now: number): boolean {
    const heldBytes = Math.min(this.#pingBytes - this.#answeredBytes, MAX_HELD_BYTES);
    return now - this.#pingedAt >= heldBytes / MIN_BYTES_PER_MS;
  }
}
