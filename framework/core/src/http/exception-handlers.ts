/** Handlers of errors, and the default ones. @module */
import { configurationError, foreignError, HTTPException, RequestValidationError } from "../common/exceptions.js";
import { errorText } from "../common/logger.js";
import { errorResponse, type ErrorSource, invalidResponse } from "./error-format.js";
import type { Request } from "./request.js";
import type { Response } from "./response/response.js";

/**
 * Creates the response to an error: a `Response`, or a value that is sent as JSON with the error's status and headers.
 */
export type ExceptionHandler<E = unknown> = (error: E, request: Request) => unknown;

/** The key of a handler: a class of errors with its subclasses, or a status. */
// oxlint-disable-next-line typescript/no-explicit-any -- a constructor's arguments are contravariant
export type ExceptionKey = number | (abstract new (...args: any) => unknown);

/** The error that a handler receives: an object of the class, or any error with the status. */
type ErrorOf<Key> = Key extends abstract new (...args: never) => infer E ? E : Error;

/** An empty string for a valid key, otherwise the problem with it. */
export type CheckKey<Key> = [Key] extends [ExceptionKey] ? unknown : KeyMistake<Key>;

type KeyMistake<Key> = Key extends (...args: never) => unknown
  ? "the class or the status must be the first argument: exceptionHandler(MyError, (error, request) => …)"
  : Key extends string
    ? "a status is a number: exceptionHandler(404, …), not exceptionHandler('404', …)"
    : "write the class itself: exceptionHandler(MyError, …), not exceptionHandler(new MyError(), …)";

/** A further argument, as Express's `next`, which is never passed. */
interface ExceptionHandlerTakesErrorAndRequest {
  readonly exceptionHandlerTakesErrorAndRequest: never;
}

/** The handler for the key. */
export type KeyedHandler<Key> = (
  error: ErrorOf<Key>,
  request: Request,
  ...none: ExceptionHandlerTakesErrorAndRequest[]
) => unknown;

/** Handlers as an option: a `Map`, a list of pairs, or a record by status. */
export type ExceptionHandlersInit =
  | Iterable<readonly [ExceptionKey, ExceptionHandler<never>]>
  | Readonly<Record<number, ExceptionHandler<Error>>>;

/** The default status of an error. @param validationStatus - The status of an invalid request. */
export function statusOf(error: unknown, validationStatus: number): number {
  if (error instanceof HTTPException) return error.statusCode;
  return error instanceof RequestValidationError ? validationStatus : 500;
}

/** The handlers of one App, router or route. */
export class ExceptionHandlers {
  readonly #handlers = new Map<ExceptionKey, ExceptionHandler<never>>();

  constructor(init: ExceptionHandlersInit = []) {
    const pairs = Symbol.iterator in init ? init : Object.entries(init).map(([key, fn]) => [Number(key), fn] as const);
    for (const [key, handler] of pairs) this.set(key, handler);
  }

  /** Sets the handler of a class or a status. @throws ConfigurationError when either is something else. */
  set(key: ExceptionKey, handler: ExceptionHandler<never>): void {
    const isKey = typeof key === "function" || (Number.isInteger(key) && key >= 400 && key <= 599);
    if (!isKey || typeof handler !== "function") {
      throw configurationError("TSGI_INVALID_EXCEPTION_HANDLER", key, handler);
    }
    const error = foreignError(key);
    if (error !== null) throw error;
    this.#handlers.set(key, handler);
  }

  /** The handler for an error. An `HTTPException` has chosen its status; the status of any other error is a default. */
  find(error: unknown, validationStatus: number): ExceptionHandler<never> | undefined {
    if (this.#handlers.size === 0) return undefined;
    const byStatus = this.#handlers.get(statusOf(error, validationStatus));
    return error instanceof HTTPException ? (byStatus ?? this.#byClass(error)) : (this.#byClass(error) ?? byStatus);
  }

  /** The handler for the nearest class of an error. */
  #byClass(error: unknown): ExceptionHandler<never> | undefined {
    if (typeof error !== "object" || error === null) return undefined;
    let prototype: unknown = Object.getPrototypeOf(error);
    // The default handlers are nearer to the framework's own errors than a handler of every `Error` is.
    const end = isServerError(error) ? null : Error.prototype;
    while (typeof prototype === "object" && prototype !== null && prototype !== end) {
      const handler = this.#handlers.get(prototype.constructor as ExceptionKey & object);
      if (handler) return handler;
      prototype = Object.getPrototypeOf(prototype);
    }
    return undefined;
  }
}

/**
 * The default response to an `HTTPException`, with its status and headers: in the error format of the App, or
 * `{"detail": …}`.
 *
 * @param request - Without it, the App and its options are unknown.
 * @example
 * ```ts
 * import { App, HTTPException, httpExceptionHandler } from "tsgi";
 *
 * const app = new App();
 * app.exceptionHandler(HTTPException, async (error, request) => {
 *   if (error.statusCode === 403) console.warn("refused", request.path);
 *   return httpExceptionHandler(error, request);
 * });
 * ```
 */
export function httpExceptionHandler(error: HTTPException, request?: ErrorSource): Response {
  return errorResponse(request, { status: error.statusCode, detail: error.detail, error }, error.headers);
}

/**
 * The default response to a request with invalid parameters: in the error format of the App, or 422 with
 * `{"detail": [issue, …]}`.
 *
 * @param request - Without it, the App and its options are unknown.
 * @example
 * ```ts
 * import { App, RequestValidationError, requestValidationExceptionHandler } from "tsgi";
 *
 * const app = new App();
 * app.exceptionHandler(RequestValidationError, async (error, request) => {
 *   const response = requestValidationExceptionHandler(error, request);
 *   response.statusCode = 400;
 *   return response;
 * });
 * ```
 */
export function requestValidationExceptionHandler(error: RequestValidationError, request?: ErrorSource): Response {
  return invalidResponse(error, request);
}

/** The default response to any other error: 500, without details of the error unless `debug` is set. */
export function serverErrorHandler(error: unknown, debug: boolean, request?: ErrorSource): Response {
  const shown = error instanceof Error ? (error.stack ?? error.message) : errorText(error);
  return errorResponse(request, { status: 500, error, ...(debug && { debug: shown.split("\n") }) });
}

/** Tells if an error is unexpected, and is logged. */
function isServerError(error: unknown): boolean {
  return !(error instanceof HTTPException) && !(error instanceof RequestValidationError);
}
