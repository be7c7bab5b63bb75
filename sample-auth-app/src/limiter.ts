import { UnavailableError } from "./unavailable.js";

/** Runs no more than so many tasks at once; the others wait in line. */
export class Limiter {
  readonly #maxRunning: number;
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(maxRunning: number, maxWaiting: number) {
    this.#maxRunning = maxRunning;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Runs a task when there is room for it, in the order of the calls.
   *
   * @throws UnavailableError at once when the line is full
   */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running < this.#maxRunning) {
      this.#running += 1;
    } else if (this.#waiting.length < this.#maxWaiting) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      throw new UnavailableError("too many tasks are waiting");
    }
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) {
        this.#running -= 1;
      } else {
        next(); // the place goes straight to the next in line
      }
    }
  }
}
