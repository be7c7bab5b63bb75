/** Finds clients that read nothing. @module */
import { MIN_BYTES_PER_MS, SlowReader, takenBytesOf, unsentBytesOf, type WriteCounts } from "../slow-reader.js";

/** `idle`: no bytes wait for the client. `stalled`: some do, and it has read none since the last round. */
export type Reading = "idle" | "reading" | "stalled";

/** Watches the client of a socket in rounds. */
export class ClientProgress {
  readonly #reader = new SlowReader();

  /** @param now - In milliseconds, by a clock that never goes back. */
  check(socket: WriteCounts, now: number): Reading {
    const waiting = socket.writableLength;
    const stalledMs = this.#reader.stalledMs(takenBytesOf(socket), waiting, now);
    if (waiting === 0) return "idle";
    // Without a live count of the bytes that wait, a client gets more time for them, as for a response.
    const allowedMs = unsentBytesOf(socket) > 0 ? 0 : waiting / MIN_BYTES_PER_MS;
    return stalledMs > 0 && stalledMs >= allowedMs ? "stalled" : "reading";
  }
}
