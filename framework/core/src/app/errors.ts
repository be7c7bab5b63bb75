/** Responses to errors: the application's exception handlers, 422 for invalid requests, 500 for the rest. @module */
import type { HTTPScope, Receive, Send } from "../protocol/asgi.js";
import {
  type ExceptionHandler,
  type ExceptionHandlers,
  httpExceptionHandler,
  requestValidationExceptionHandler,
  serverErrorHandler,
  statusOf,
} from "../http/exception-handlers.js";
import { describingBody, errorWriterOf } from "../http/error-format.js";
import { ClientDisconnect, foreignError, HTTPException, RequestValidationError } from "../common/exceptions.js";
import { errorText, type Logger, logOnce } from "../common/logger.js";
import { observedOf, runTasks } from "../middleware/observation/observed.js";
import { finishingSend, type Request } from "../http/request.js";
import { responseOf } from "../http/response/web.js";
import { JSONResponse } from "../http/response/kinds.js";
import { PREPARE, type Response, type Sender } from "../http/response/response.js";
import { RESPONDER, type RespondingSend } from "../protocol/response.js";
import { finishAfterCut, type HostedScope, UNEXPECTED } from "../protocol/server-context.js";
import { isFulfilled, peek } from "../common/promises.js";
import { EarlyResponse } from "../parameters/dependencies/transaction.js";

/** The handlers that an error is looked up in, and the form of its report. */
export interface ErrorSettings {
  /** Innermost first. */
  readonly handlers: readonly ExceptionHandlers[];
  readonly logger: Logger;
  readonly debug: boolean;
}

/** Writes an unexpected error to the log, once for each request. */
export function logError(error: unknown, scope: HTTPScope, logger: Logger): void {
  const { method, path, state } = scope;
  const requestId = state?.["requestId"];
  const request = requestId === undefined ? { method, path } : { method, path, requestId };
  logOnce(logger, error, {
    scope,
    fields: request,
    message: `${method} ${path} failed: ${errorText(error)}`,
  });
}

/** Makes a response to an error. Throws if it cannot. */
type MakeResponse = (error: unknown, request: Request, settings: ErrorSettings) => Promise<Response> | Response;

/** Creates the response to an error: with the nearest registered handler, or a default one. */
async function toErrorResponse(error: unknown, request: Request, settings: ErrorSettings): Promise<Response> {
  if (error instanceof EarlyResponse) return error.response;
  const { validationStatus } = errorWriterOf(request);
  for (const handlers of settings.handlers) {
    const handler = handlers.find(error, validationStatus);
    if (!handler) continue;
    const result = await (handler as ExceptionHandler)(error, request);
    return responseOf(result) ?? toJSONResponse(result, error, validationStatus);
  }
  return toDefaultResponse(error, request, settings);
}

/** Keeps the other headers of the error: a 401 needs its `WWW-Authenticate`, a 405 its `Allow` (RFC 9110 §15.5.2, §15.5.6). */
function toJSONResponse(value: unknown, error: unknown, validationStatus: number): Response {
  const headers = error instanceof HTTPException ? error.headers : undefined;
  const response = new JSONResponse(value, { statusCode: statusOf(error, validationStatus), headers });
  return describingBody(response, "application/json");
}

const toServerError: MakeResponse = (error, request, { debug }) => {
  if (process.env["TSGI_PLATFORM"] !== "web") (request.scope as HostedScope)[UNEXPECTED]?.(error);
  return serverErrorHandler(error, debug, request);
};

const toDefaultResponse: MakeResponse = (error, request, settings) => {
  if (error instanceof HTTPException) return httpExceptionHandler(error, request);
  if (error instanceof RequestValidationError) return requestValidationExceptionHandler(error, request);
  return toServerError(error, request, settings);
};

/**
 * Each makes a response to the error of the one before it: an exception handler may throw, a file of its response may be
 * missing, and a header or a detail of an `HTTPException` may be impossible to send.
 */
const ATTEMPTS: readonly MakeResponse[] = [toErrorResponse, toDefaultResponse, toServerError];

/** The response to an error, and the function that sends it. Reports the error. */
export async function prepareResponse(
  error: unknown,
  request: Request,
  settings: ErrorSettings,
): Promise<{ readonly response: Response; readonly sender: Sender }> {
  const errors = new Set<unknown>();
  let thrown = foreignError(error) ?? error;
  for (const make of ATTEMPTS) {
    errors.add(thrown);
    try {
      const response = await make(thrown, request, settings);
      const sender = await response[PREPARE](request.method === "HEAD", request);
      if (response.statusCode >= 500) report(errors, request.scope, settings.logger);
      return { response, sender };
    } catch (next) {
      thrown = next;
    }
  }
  throw thrown;
}

/**
 * Reports the errors of a response with a status of 500 or more, regardless of what made the response: to the observation of
 * the request, and to the log. Only an `HTTPException` without a cause is expected.
 */
function report(errors: ReadonlySet<unknown>, scope: HTTPScope, logger: Logger): void {
  for (const error of errors) {
    if (error instanceof EarlyResponse) continue;
    observedOf(scope)?.fail(error);
    const isExpected = error instanceof HTTPException && (error.cause === undefined || errors.has(error.cause));
    if (!isExpected) logError(error, scope, logger);
  }
}

/** Sends the response to an error and runs its background tasks. */
export async function respondToError(
  error: unknown,
  request: Request,
  { settings, send }: { readonly settings: ErrorSettings; readonly send: Send },
): Promise<void> {
  const { response, sender } = await prepareResponse(error, request, settings);
  const runOwnTasks = () => runTasks(response.background, observedOf(request.scope));
  try {
    await sendUnlessGone(sender, finishingSend(request, send));
  } catch (thrown) {
    finishAfterCut(request.scope, runOwnTasks());
    throw thrown;
  }
  await runOwnTasks();
}

/** Sends a response, and ignores that the client has disconnected. */
export async function sendUnlessGone(sender: Sender, send: Send): Promise<void> {
  try {
    await sender(send);
  } catch (error) {
    if (!isDisconnect(error)) throw error;
  }
}

/** Tells if the error only reports that the client has disconnected, so that no response is possible or necessary. */
export function isDisconnect(error: unknown): boolean {
  return error instanceof ClientDisconnect;
}

/** An app whose errors get responses. */
export type GuardedApp = (scope: HTTPScope, receive: Receive, send: Send) => Promise<void>;

/**
 * Turns an error that an app throws before the start of its response into a response. A later error is logged and
 * rethrown, so that the server closes the connection.
 */
export function guard(
  app: GuardedApp,
  requestOf: (scope: HTTPScope, receive: Receive) => Request,
  settings: ErrorSettings,
): GuardedApp {
  return async (scope, receive, send: RespondingSend) => {
    let hasBegun = false;
    const tracked: Send = (message) => {
      if (message.type === "http.response.start") hasBegun = true;
      return send(message);
    };
    try {
      const served = app(scope, receive, send[RESPONDER] ? send : tracked);
      if (peek === null || !isFulfilled(served)) await served;
    } catch (error) {
      if (isDisconnect(error)) return;
      if (send[RESPONDER]?.hasBegun ?? hasBegun) {
        logError(error, scope, settings.logger);
        throw error;
      }
      await respondToError(error, requestOf(scope, receive), { settings, send });
    }
  };
}
