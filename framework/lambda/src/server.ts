/** The application of a handler, and one event's way through it. @module */
import type { ASGIApp, Logger } from "tsgi";
import {
  assertApplication,
  assertOptions,
  consoleLogger,
  ErrorResponse,
  Exchange,
  LazyServer,
  OBJECT,
  type OptionRules,
  RequestBody,
  responseFacts,
  type ResponseStream,
  type ServerContext,
} from "tsgi/internals";
import { type EventSource, readEvent } from "./event.js";
import { toRequest } from "./request.js";

/** Options of `toLambda` and `toLambdaStream`. */
export interface LambdaOptions {
  /** The logger for errors that the application does not handle. Defaults to lines on stderr, which Lambda records. */
  logger?: Logger;
  /** The initial state of the lifespan; each scope gets a shallow copy. Defaults to `{}`. */
  state?: Record<string, unknown>;
}

const OPTIONS: OptionRules<LambdaOptions> = { logger: OBJECT, state: OBJECT };

/** A call of the application. */
export interface LambdaCall {
  /** Such as `"GET /items"`. */
  readonly name: string;
  disconnect(): void;
}

/** The response to one event. */
export interface LambdaResponse extends ResponseStream {
  /** Called before the application. */
  attach(call: LambdaCall, context: ServerContext): void;
}

/**
 * Creates the server of a handler.
 *
 * @param caller - The function that the user calls, for messages.
 * @throws ConfigurationError for anything but an application, and for an unknown option.
 */
export function createServer(caller: string, app: ASGIApp, options: LambdaOptions): LazyServer {
  assertApplication(caller, app);
  assertOptions(caller, options, OPTIONS);
  const { logger = consoleLogger, state = {} } = options;
  return new LazyServer(app, { logger, state });
}

/**
 * Calls the application for one event. Resolves once it has settled, background tasks included: Lambda stops the process then.
 *
 * @param open - Creates the response for a source.
 * @throws ConfigurationError if the event is not an HTTP request.
 */
export async function serveEvent<Response extends LambdaResponse>(
  server: LazyServer,
  [event, context]: readonly [event: unknown, context: unknown],
  open: (source: EventSource) => Response,
): Promise<Response> {
  const read = readEvent(event);
  const response = open(read.source);
  const shared = server.context ?? (await server.start());
  if (shared instanceof ErrorResponse) {
    refuse(response, shared, read.method);
    return response;
  }
  const request = toRequest(read, { event, context }, shared);
  if (request instanceof ErrorResponse) {
    refuse(response, request.as(shared), read.method);
    return response;
  }
  const { length } = request.body;
  const body = new RequestBody(null, length);
  if (length > 0) body.take(request.body, true);
  const exchange = new Exchange(shared, response, request.scope, body);
  response.attach(exchange, shared);
  await exchange.run();
  return response;
}

function refuse(response: LambdaResponse, { head, body }: ErrorResponse, method: string): void {
  const facts = responseFacts(head.status, method);
  response.respond({ ...head, facts }, facts.bodyless ? "" : body);
}
