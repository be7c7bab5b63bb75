/** Errors of pools and of the values that are sent to them. @module */
import type { ErrorCode } from "../../common/error-codes.js";
import { HTTPException } from "../../common/exceptions.js";

/** A value that belongs to one event loop was sent to another: a socket, a stream, a client of a database. */
export class LoopError extends Error {
  override readonly name = "LoopError";

  /** @param detail - The value, and the way to do without it. */
  constructor(detail: string) {
    super(`Task attached to a different loop. ${detail}`);
  }
}

/** The worker that ran the task has exited before it responded. The task is not run again. */
export class WorkerDiedError extends Error {
  override readonly name = "WorkerDiedError";
}

/** The module of the application cannot be used in a worker. The message names a route, and the ways out. */
export class EntryError extends Error {
  override readonly name = "EntryError";
  /** Its heading on the documentation's page of errors, as of a `ConfigurationError`. */
  readonly code = "TSGI_UNUSABLE_ENTRY" satisfies ErrorCode;
}

/** The pool was closed before the task was given to it. */
export class PoolClosedError extends Error {
  override readonly name = "PoolClosedError";
}

/** The queue of a pool is full. Results in 503 and `Retry-After`. */
export class PoolFullError extends HTTPException {
  override readonly name = "PoolFullError";

  constructor() {
    super(503, undefined, { headers: { "Retry-After": "1" } });
  }
}

/** No worker starts: each exits during its start. Results in 503 and `Retry-After`. */
export class PoolUnavailableError extends HTTPException {
  override readonly name = "PoolUnavailableError";

  /** @param retryAfterSeconds - Seconds until a worker has been tried again. */
  constructor(retryAfterSeconds: number) {
    super(503, undefined, { headers: { "Retry-After": String(retryAfterSeconds) } });
  }
}

/** The task took longer than `timeoutMs`; its worker is replaced. Results in 504. */
export class PoolTimeoutError extends HTTPException {
  override readonly name = "PoolTimeoutError";

  constructor() {
    super(504);
  }
}

const HOPELESS = 5;
const WINDOW_MS = 10_000;

const FIRST_DELAY_MS = 100;

/** Below `WINDOW_MS`, so that a row of failures with these delays between them stays a row. */
const LONGEST_DELAY_MS = 5000;

/** Workers that ended before they were of use: the longer the row, the longer until the next one is tried. */
export class StartFailures {
  /** `true` after a worker was ready. */
  hasSucceeded = false;
  /** `true` once five failed within ten seconds, until one is ready. */
  isHopeless = false;
  readonly #now: () => number;
  #times: number[] = [];

  /** @param now - A clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Failures in a row, the last of them less than ten seconds ago. */
  get count(): number {
    const last = this.#times.at(-1);
    return last === undefined || this.#now() - last > WINDOW_MS ? 0 : this.#times.length;
  }

  /** Milliseconds to wait before the next start: twice as long after each failure. */
  get delayMs(): number {
    return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.max(0, this.count - 1));
  }

  /** The same in whole seconds, for `Retry-After`. */
  get delaySeconds(): number {
    return Math.ceil(this.delayMs / 1000);
  }

  /** Counts a worker that ended before it was of use. */
  add(): void {
    if (this.count === 0) this.#times = [];
    this.#times.push(this.#now());
    const fifthLast = this.#times.at(-HOPELESS) ?? -Infinity;
    this.isHopeless ||= this.#now() - fifthLast <= WINDOW_MS;
  }

  /** A worker is ready. The series continues: the new worker may exit before it is ready. */
  succeed(): void {
    this.isHopeless = false;
    this.hasSucceeded = true;
  }
}
