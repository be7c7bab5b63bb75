/** The bound on the wait for a client that does not read its responses. @module */
import type { Socket } from "node:net";

/** The least that a client takes of a response: bytes that wait get a millisecond more for each of so many. */
export const MIN_BYTES_PER_MS = 16;

/**
 * Watches the bytes that wait for one client. Attack: clients that do not read keep their responses in memory, with the
 * dependencies of their requests: 50 of them held 380 MB for the 1,650 bytes that they had sent.
 */
export class SlowReader {
  /** When the client was last seen to take something, in milliseconds; `Infinity` while no bytes wait. */
  #takenAt = Infinity;
  #takenBytes = 0;

  /**
   * Returns for how long the client has not read any of the waiting bytes, as of the checks. The number of bytes that
   * wait does not tell: a download in parts of one size has the same number at each check.
   */
  stalledMs(takenBytes: number, waitingBytes: number, now: number): number {
    if (waitingBytes === 0) this.#takenAt = Infinity;
    else if (takenBytes !== this.#takenBytes || this.#takenAt === Infinity) this.#takenAt = now;
    this.#takenBytes = takenBytes;
    return Math.max(0, now - this.#takenAt);
  }

  /** Tells if the client has not read any of the waiting bytes for too long. */
  isLate(takenBytes: number, waitingBytes: number, now: number, requestMs: number): boolean {
    const stalledMs = this.stalledMs(takenBytes, waitingBytes, now);
    return requestMs > 0 && stalledMs >= requestMs + waitingBytes / MIN_BYTES_PER_MS;
  }
}

/** The counts of a socket. */
export type WriteCounts = Pick<Socket, "writableLength" | "bytesWritten">;

/**
 * A count that changes only when the client reads bytes of a socket: Node writes no other data until the write in
 * progress is done.
 */
export function takenBytesOf(socket: WriteCounts): number {
  return socket.bytesWritten - socket.writableLength - unsentBytesOf(socket);
}

/** Bytes of the write in progress that the system has not accepted; 0 if the runtime does not count them. */
export function unsentBytesOf(socket: object): number {
  const handle: unknown = Reflect.get(socket, "_handle");
  if (typeof handle !== "object" || handle === null || !("writeQueueSize" in handle)) return 0;
  return typeof handle.writeQueueSize === "number" ? handle.writeQueueSize : 0;
}
