/** Advice and errors about a route whose handler runs in the pool. @module */
import type { WorkerKind } from "../platforms/concurrency/options.js";
import type { Logger } from "../common/logger.js";

/** The way to a worker and back costs 0.1 ms; a handler that takes less than ten times that is better off without. */
const WORTHWHILE_MS = 1;

/** After how many calls the average counts. */
const ENOUGH_CALLS = 10;

const PLACES: Readonly<Record<WorkerKind, string>> = { process: "another process", thread: "another thread" };

/** Log lines and errors about one route whose handler runs in the pool. */
export class RouteUse {
  /** `METHOD pattern`. */
  readonly route: string;
  readonly #kind: WorkerKind;
  readonly #logger: Logger;
  #isKnownToPromise = false;
  #isAdvised = false;
  #calls = 0;
  #totalMs = 0;

  constructor(route: string, kind: WorkerKind, logger: Logger) {
    this.route = route;
    this.#kind = kind;
    this.#logger = logger;
  }

  /** Logs once that a handler returns a promise, as it does if its `async` is missing. */
  adviseAsync(): void {
    if (this.#isKnownToPromise) return;
    this.#isKnownToPromise = true;
    this.#logger.warn(
      { route: this.route },
      `${this.route} is not async, so it runs in ${PLACES[this.#kind]}, but it returned a promise. If it waits for ` +
        "I/O, declare it as `async`: it then runs on the event loop.",
    );
  }

  /** Counts a call. Says once that a handler is too short for a pool. */
  measure(elapsedMs: number): void {
    this.#calls++;
    this.#totalMs += elapsedMs;
    const averageMs = this.#totalMs / this.#calls;
    if (this.#isAdvised || this.#calls < ENOUGH_CALLS || averageMs >= WORTHWHILE_MS) return;
    this.#isAdvised = true;
    this.#logger.warn(
      { route: this.route, averageMs },
      `${this.route} takes ${averageMs.toFixed(3)} ms on average, little more than the way to the pool and back. ` +
        "Make the handler async: it then runs on the event loop.",
    );
  }

  /** Says that a call took too long. */
  reportTimeout(timeoutMs: number): void {
    this.#logger.warn(
      { route: this.route, timeoutMs },
      `${this.route} took longer than the pool's timeoutMs of ${timeoutMs} and was ended with its worker, which is replaced.`,
    );
  }

  /** The message of an argument that belongs to this loop. */
  explainArgument(name: string, path: string, what: string): string {
    const place = path === name ? `is ${what}` : `has ${what} in it (${path})`;
    return (
      `${this.route} is not async, so it runs in ${PLACES[this.#kind]}, and its parameter ` +
      `${JSON.stringify(name)} ${place}, which belongs to the server's loop. Make the handler async, set the route's ` +
      "option `pool: false`, or let the dependency return data."
    );
  }
}
