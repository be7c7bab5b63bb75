/** Places for jobs that run at the same time. @module */
import { nextTurn } from "tsgi/internals";

/** A number of places, which are taken and returned. */
export class Slots {
  #free: number;
  #waiters: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Waits until a place is free. @returns The places taken, at most `most`; 0 once the signal has aborted. */
  async take(most: number, signal: AbortSignal): Promise<number> {
    while (this.#free === 0 && !signal.aborted) {
      await this.#released(signal);
      // Jobs that have ended together are replaced together: one statement fetches them all.
      await nextTurn();
    }
    if (signal.aborted) return 0;
    const count = Math.min(most, this.#free);
    this.#free -= count;
    return count;
  }

  /** Returns places. */
  release(count: number): void {
    if (count === 0) return;
    this.#free += count;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }

  #released(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        signal.removeEventListener("abort", wake);
        resolve();
      };
      signal.addEventListener("abort", wake, { once: true });
      this.#waiters.push(wake);
    });
  }
}
