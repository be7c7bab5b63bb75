/** The bound on the wait for a client that does not read its responses. @module */

/** The least that a client takes of a response: bytes that wait get a millisecond more for each of so many. */
const MIN_BYTES_PER_MS = 16;

/**
 * Watches the bytes that wait for one client. Attack: clients that read nothing hold their responses in memory, with the
 * dependencies of their requests: 50 of them held 380 MB for the 1,650 bytes that they had sent.
 */
export class SlowReader {
  /** When the client last took something, or had nothing to take; in milliseconds. */
  #takenAt: number;
  #waitingBytes = 0;

  constructor(now: number) {
    this.#takenAt = now;
  }

  /** Tells if the client has taken none of the bytes that wait for too long. Called at each check. */
  isLate(waitingBytes: number, now: number, requestMs: number): boolean {
    if (waitingBytes === 0 || waitingBytes < this.#waitingBytes) this.#takenAt = now;
    this.#waitingBytes = waitingBytes;
    return requestMs > 0 && now - this.#takenAt >= requestMs + waitingBytes / MIN_BYTES_PER_MS;
  }
}
