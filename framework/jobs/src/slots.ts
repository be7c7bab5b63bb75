/** Places for jobs that run at the same time. @module */

/** Waits for places. */
interface Waiter {
  readonly most: number;
  readonly give: (count: number) => void;
}

/** A number of places, which are taken and given back. */
export class Slots {
  #free: number;
  readonly #waiters: Waiter[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Waits until a place is free. @returns The places taken, at most `most`; 0 once the signal has aborted. */
  take(most: number, signal: AbortSignal): Promise<number> {
    if (signal.aborted) return Promise.resolve(0);
    if (this.#free > 0) return Promise.resolve(this.#takeNow(most));
    return new Promise((resolve) => {
      const waiter: Waiter = {
        most,
        give: (count) => {
          signal.removeEventListener("abort", leave);
          resolve(count);
        },
      };
      const leave = () => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        resolve(0);
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#waiters.push(waiter);
    });
  }

  /** Gives places back. */
  release(count: number): void {
    this.#free += count;
    while (this.#free > 0) {
      const waiter = this.#waiters.shift();
      if (waiter === undefined) return;
      waiter.give(this.#takeNow(waiter.most));
    }
  }

  #takeNow(most: number): number {
    const count = Math.min(most, this.#free);
    this.#free -= count;
    return count;
  }
}
