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
import { ClientDisconnect, HTTPException, RequestValidationError } from "../common/exceptions.js";
import { errorText, type Logger, logOnce } from "../common/logger.js";
import { observedOf, runTasks } from "../middleware/observation/observed.js";
import { finishingSend, type Request } from "../http/request.js";
import { fromWebResponse, isWebResponse } from "../http/response/web.js";
import { JSONResponse } from "../http/response/kinds.js";
import { PREPARE, Response, type Sender } from "../http/response/response.js";
import { EarlyResponse } from "../parameters/dependencies/settlement.js";

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

/** Creates the response to an error: with the nearest registered handler, or a default one. */
async function toErrorResponse(error: unknown, request: Request, settings: ErrorSettings): Promise<Response> {
  if (error instanceof EarlyResponse) return error.response;
  for (const handlers of settings.handlers) {
    const handler = handlers.find(error);
    if (!handler) continue;
    try {
      const result = await (handler as ExceptionHandler)(error, request);
      if (isWebResponse(result)) return observeAnswer(fromWebResponse(result), error, request);
      return observeAnswer(result instanceof Response ? result : toJSONResponse(result, error), error, request);
    } catch (thrown) {
      return toDefaultResponse(thrown, request, settings);
    }
  }
  return toDefaultResponse(error, request, settings);
}

/** Keeps the headers of the error: a 401 needs its `WWW-Authenticate`, a 405 its `Allow` (RFC 9110 §15.5.2, §15.5.6). */
function toJSONResponse(value: unknown, error: unknown): Response {
  const headers = error instanceof HTTPException ? error.headers : undefined;
  return new JSONResponse(value, { statusCode: statusOf(error), headers });
}

/** Reports an error to the observation of the request if the response has a status of 500 or more. */
function observeAnswer(response: Response, error: unknown, request: Request): Response {
  if (response.statusCode >= 500) observedOf(request.scope)?.fail(error);
  return response;
}

function toDefaultResponse(error: unknown, request: Request, settings: ErrorSettings): Response {
  return observeAnswer(makeDefaultResponse(error, request, settings), error, request);
}

function makeDefaultResponse(error: unknown, request: Request, settings: ErrorSettings): Response {
  try {
    if (error instanceof HTTPException) {
      // A full disk, a database that is away: the client reads the status, the operator the cause.
      if (error.statusCode >= 500 && error.cause !== undefined) logError(error, request.scope, settings.logger);
      return httpExceptionHandler(error, request);
    }
    if (error instanceof RequestValidationError) return requestValidationExceptionHandler(error, request);
    logError(error, request.scope, settings.logger);
    return serverErrorHandler(error, settings.debug, request);
  } catch (unsendable) {
    // A header that HTTP does not allow, or a detail that JSON cannot write.
    logError(unsendable, request.scope, settings.logger);
    return serverErrorHandler(unsendable, settings.debug, request);
  }
}

/**
 * Sends the response to an error. If it cannot be prepared, for example because a file is missing, that error gets a
 * response instead.
 */
export async function sendErrorResponse(
  error: unknown,
  request: Request,
  { settings, send }: { readonly settings: ErrorSettings; readonly send: Send },
): Promise<Response> {
  const headOnly = request.method === "HEAD";
  let response = await toErrorResponse(error, request, settings);
  let sender: Sender;
  try {
    sender = await response[PREPARE](headOnly, request);
  } catch (thrown) {
    response = toDefaultResponse(thrown, request, settings);
    sender = await response[PREPARE](headOnly, request);
  }
  try {
    await sender(send);
  } catch (thrown) {
    if (!isDisconnect(thrown)) throw thrown;
  }
  return response;
}

/** Sends the response to an error and runs its background tasks. */
export async function answerError(
  error: unknown,
  request: Request,
  { settings, send }: { readonly settings: ErrorSettings; readonly send: Send },
): Promise<void> {
  const response = await sendErrorResponse(error, request, { settings, send: finishingSend(request, send) });
  await runTasks(response.background, observedOf(request.scope));
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
  return async (scope, receive, send) => {
    let started = false;
    const tracked: Send = (message) => {
      if (message.type === "http.response.start") started = true;
      return send(message);
    };
    try {
      await app(scope, receive, tracked);
    } catch (error) {
      if (isDisconnect(error)) return;
      if (started) {
        logError(error, scope, settings.logger);
        throw error;
      }
      await answerError(error, requestOf(scope, receive), { settings, send });
    }
  };
}
