/** The way from an event to an application, with a response that is returned whole. @module */
import type { ASGIApp } from "tsgi";
import { BufferedResponse } from "./buffered-response.js";
import type { LambdaContext, LambdaEvent } from "./event.js";
import type { LambdaResult } from "./result.js";
import { createServer, type LambdaOptions, serveEvent } from "./server.js";

/** A handler for Lambda, whose response is returned whole. */
export interface LambdaHandler {
  (event: LambdaEvent, context?: LambdaContext): Promise<LambdaResult>;
  /** Waits for the events that run, 10 seconds at most, and ends the lifespan. A later event starts it again. */
  close(): Promise<void>;
}

/**
 * Creates a handler for AWS Lambda behind API Gateway, a function URL, or an Application Load Balancer.
 *
 * The application starts before the first event. A response is returned whole, after its background tasks, and can have
 * 6 MB (behind a load balancer 1 MB). For larger responses and for streams, use `toLambdaStream`.
 *
 * @throws ConfigurationError for anything but an application, and for an unknown option. The handler rejects with one if
 *   an event is not an HTTP request.
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { toLambda } from "@tsgi/lambda";
 *
 * const app = new App();
 * app.get("/", async () => "hello");
 * export const handler = toLambda(app);
 * ```
 */
export function toLambda(app: ASGIApp, options: LambdaOptions = {}): LambdaHandler {
  const server = createServer("toLambda()", app, options);
  const handler = async (event: LambdaEvent, context?: LambdaContext): Promise<LambdaResult> => {
    const { result } = await serveEvent(server, [event, context], (source) => new BufferedResponse(source));
    return result;
  };
  return Object.assign(handler, { close: () => server.close() });
}
