import { ClientDisconnect } from "tsgi";

import { UnavailableError } from "./unavailable.js";

/** For whom a task is run. */
export interface Caller {
  /** Those of one line share its turns. */
  line?: string;
  /** Aborts when nobody waits for the task any more. */
  signal?: AbortSignal;
}

interface Waiting {
  line: string;
  /** Of each line, one is served in a round. */
  round: number;
  begin: () => void;
  refuse: (error: Error) => void;
}

/**
 * Runs no more than so many tasks at once; the others wait in lines that are served in turn. Where no more may wait, the
 * last of the longest line makes room for who comes to a shorter one: a flood fills its own line alone.
 */
export class Limiter {
  readonly #maxRunning: number;
  readonly #maxWaiting: number;
  /** By round, and in a round in the order of the calls. */
  readonly #waiting: Waiting[] = [];
  #running = 0;
  #round = 0;

  constructor(maxRunning: number, maxWaiting: number) {
    this.#maxRunning = maxRunning;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Runs a task when it is its turn.
   *
   * @throws UnavailableError when too many are waiting
   * @throws ClientDisconnect when the caller goes before the task begins, which it then never does
   */
  async run<T>(task: () => Promise<T>, { line = "", signal }: Caller = {}): Promise<T> {
    if (signal?.aborted === true) {
      throw new ClientDisconnect();
    }
    if (this.#running < this.#maxRunning) {
      this.#running += 1;
    } else {
      await this.#wait(line, signal);
    }
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) {
        this.#running -= 1;
      } else {
        this.#round = next.round;
        next.begin(); // the place goes straight to the next
      }
    }
  }

  #wait(line: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((begin, refuse) => {
      const ahead = this.#waiting.findLast((other) => other.line === line)?.round ?? -1;
      const waiting = { line, round: Math.max(this.#round, ahead + 1), begin, refuse };
      const place = this.#waiting.findLastIndex(({ round }) => round <= waiting.round) + 1;
      this.#waiting.splice(place, 0, waiting);
      signal?.addEventListener("abort", () => {
        const index = this.#waiting.indexOf(waiting);
        if (index >= 0) {
          this.#waiting.splice(index, 1);
          refuse(new ClientDisconnect());
        }
      });
      if (this.#waiting.length > this.#maxWaiting) {
        this.#waiting.pop()?.refuse(new UnavailableError("too many tasks are waiting"));
      }
    });
  }
}
