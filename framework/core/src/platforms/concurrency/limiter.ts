/** Tasks in lines that are served in turn. @module */
import { ClientDisconnect } from "../../common/exceptions.js";
import { assertOptions, type OptionRules, whole } from "../../common/options.js";
import { PoolFullError } from "./errors.js";

/** The options of a `Limiter`. */
export interface LimiterOptions {
  /** The most tasks that run at once. */
  maxRunning: number;
  /** The most tasks that wait, in all lines together. */
  maxWaiting: number;
}

const OPTIONS: OptionRules<LimiterOptions> = { maxRunning: whole(1), maxWaiting: whole(0) };

/** For whom a task is run. */
export interface Caller {
  /** Tasks of one line share its turns. Defaults to a queue that tasks without a name share. */
  line?: string;
  /** Aborts when the caller does not wait for the task any more, as `request.signal` does. */
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
 * Runs no more than so many tasks at once; the others wait in lines that are served in turn. If the limit is reached,
 * the last task of the longest queue makes room for a shorter one: a flood fills only its own queue.
 *
 * @example
 * ```ts
 * import { Limiter } from "tsgi/concurrency";
 *
 * const limiter = new Limiter({ maxRunning: 4, maxWaiting: 100 });
 * await limiter.run(async () => "done", { line: "192.0.2.1" });
 * ```
 */
export class Limiter {
  readonly #maxRunning: number;
  readonly #maxWaiting: number;
  /** By round, and in a round in the order of the calls. */
  readonly #waiting: Waiting[] = [];
  #running = 0;
  #round = 0;

  /** @throws ConfigurationError for a number that cannot work. */
  constructor(options: LimiterOptions) {
    assertOptions("new Limiter()", options, OPTIONS);
    OPTIONS.maxRunning("new Limiter()", "maxRunning", options.maxRunning);
    OPTIONS.maxWaiting("new Limiter()", "maxWaiting", options.maxWaiting);
    this.#maxRunning = options.maxRunning;
    this.#maxWaiting = options.maxWaiting;
  }

  /**
   * Runs a task when it is its turn.
   *
   * @throws PoolFullError if too many tasks are waiting, which results in 503.
   * @throws ClientDisconnect when the caller goes before the task begins, which it then never does.
   */
  async run<T>(task: () => Promise<T>, { line = "", signal }: Caller = {}): Promise<T> {
    if (signal?.aborted) throw new ClientDisconnect();
    if (this.#running < this.#maxRunning) this.#running += 1;
    else await this.#wait(line, signal);
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
    return new Promise((resolve, reject) => {
      const leave = () => {
        const index = this.#waiting.indexOf(waiting);
        this.#waiting.splice(index, 1);
        waiting.refuse(new ClientDisconnect());
      };
      const detach = () => signal?.removeEventListener("abort", leave);
      const ahead = this.#waiting.findLast((other) => other.line === line)?.round ?? -1;
      const waiting: Waiting = {
        line,
        round: Math.max(this.#round, ahead + 1),
        begin: () => resolve(detach()),
        refuse: (error) => reject((detach(), error)),
      };
      const place = this.#waiting.findLastIndex(({ round }) => round <= waiting.round) + 1;
      this.#waiting.splice(place, 0, waiting);
      signal?.addEventListener("abort", leave);
      if (this.#waiting.length > this.#maxWaiting) this.#waiting.pop()?.refuse(new PoolFullError());
    });
  }
}
