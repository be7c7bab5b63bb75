/** The bound on the wait for clients of a server whose connections belong to other code. @module */
import { clearInterval, performance, setInterval } from "../../common/timers.js";
import { MAX_WAITING_BYTES } from "./slow-reader.js";

/** A response of which bytes wait for its client. */
export interface WaitingResponse {
  readonly destroyed: boolean;
  readonly waitingBytes: number;
  /** Tells if its client hardly reads. `now` is in milliseconds. */
  isLate(now: number, isCrowded: boolean): boolean;
  destroy(): void;
}

const CHECK_INTERVAL_MS = 1000;

/** Cuts the responses whose clients hardly read. It has a timer only while bytes wait. */
export class SlowResponses {
  readonly #waiting = new Set<WaitingResponse>();
  #timer: NodeJS.Timeout | undefined;
  #waitingBytes = 0;
  /** Time in which this process could not write does not count: a sum of at most two intervals for each check. */
  #now = 0;
  #checkedAt = 0;

  /** Looks after a response until no bytes of it wait. */
  add(response: WaitingResponse): void {
    this.#waiting.add(response);
    if (this.#timer !== undefined) return;
    this.#checkedAt = performance.now();
    this.#timer = setInterval(() => this.#check(), CHECK_INTERVAL_MS).unref();
  }

  #check(): void {
    const now = performance.now();
    this.#now += Math.min(now - this.#checkedAt, 2 * CHECK_INTERVAL_MS);
    this.#checkedAt = now;
    const isCrowded = this.#waitingBytes > MAX_WAITING_BYTES;
    this.#waitingBytes = 0;
    for (const response of this.#waiting) {
      const { destroyed, waitingBytes } = response;
      this.#waitingBytes += waitingBytes;
      if (!destroyed && response.isLate(this.#now, isCrowded)) response.destroy();
      if (destroyed || waitingBytes === 0) this.#waiting.delete(response);
    }
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
