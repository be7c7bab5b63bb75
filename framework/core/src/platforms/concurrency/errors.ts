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
