/** The time limit of handlers. @module */
import { isAbort, MAX_TIMER_MS } from "../common/promises.js";
import { configurationError, HTTPException } from "../common/exceptions.js";
import { errorText, type Logger } from "../common/logger.js";
import { CLOSE_SOURCE, StreamingResponse } from "../http/response/streaming.js";
import { fromWebResponse, isWebResponse } from "../http/response/web.js";

/**
 * A handler that took longer than its `limits.handlerMs`. Results in 504, like any `HTTPException` with this status.
 */
export class HandlerTimeout extends HTTPException {
  override readonly name = "HandlerTimeout";
  /** Settles when the handler has ended, which cannot be stopped. */
  readonly ended: Promise<void>;

  constructor(ended: Promise<void>) {
    super(504);
    this.ended = ended;
  }
}

/**
 * Gives a handler that fails with a `HandlerTimeout` when its promise takes too long. Code cannot be stopped from
 * outside: the handler continues, its result is dropped and closed, and a later error is logged, unless it is caused by the abort
 * of `request.signal`. Without a limit it is the very handler that was given.
 *
 * @param of - Method and path, for messages, and the logger.
 * @throws ConfigurationError for a limit of 0, which no handler can keep to.
 */
export function limitHandler<Args extends readonly unknown[]>(
  handler: (...args: Args) => unknown,
  timeoutMs: number,
  of: { readonly route: string; readonly logger: Logger },
): (...args: Args) => unknown {
  const { route, logger } = of;
  if (timeoutMs > MAX_TIMER_MS) return handler;
  if (timeoutMs === 0) {
    throw configurationError("TSGI_INVALID_LIMIT.handler", route);
  }
  const late = (error: unknown) => {
    if (error instanceof HandlerTimeout || isAbort(error)) return;
    logger.error({ err: error }, `${route} failed after its time was up: ${errorText(error)}`);
  };
  return (...args) => {
    const result = handler(...args);
    return result instanceof Promise ? within(result, timeoutMs, late) : result;
  };
}

function within(result: Promise<unknown>, timeoutMs: number, late: (error: unknown) => void): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new HandlerTimeout(result.then(close).catch(late))), timeoutMs);
    result.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: Error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

/** Closes the source of a response that is not sent. */
async function close(result: unknown): Promise<void> {
  const response = isWebResponse(result) ? fromWebResponse(result) : result;
  if (response instanceof StreamingResponse) await response[CLOSE_SOURCE]();
}
