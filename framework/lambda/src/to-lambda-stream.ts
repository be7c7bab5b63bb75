/** The way from an event to an application, with a response that is streamed. @module */
import type { Writable } from "node:stream";
import type { ASGIApp } from "tsgi";
import { lambdaError } from "./errors.js";
import type { EventSource, LambdaContext, LambdaEvent } from "./event.js";
import { createServer, type LambdaOptions, serveEvent } from "./server.js";
import { type BeginStream, StreamedResponse } from "./streamed-response.js";

/** A handler for Lambda, which streams its response. */
export interface LambdaStreamHandler {
  (event: LambdaEvent, responseStream: Writable, context?: LambdaContext): Promise<void>;
  /** Waits for the events that run, 10 seconds at most, and ends the lifespan. A later event starts it again. */
  close(): Promise<void>;
}

type Handler = (event: LambdaEvent, responseStream: Writable, context?: LambdaContext) => Promise<void>;

/** The global of Lambda's Node.js runtime. */
interface StreamingRuntime {
  streamifyResponse(handler: Handler): Handler;
  readonly HttpResponseStream: { readonly from: BeginStream };
}

/**
 * Creates a handler for AWS Lambda that streams its response: through a function URL with the invoke mode
 * `RESPONSE_STREAM`, or through a REST API with the response transfer mode `STREAM`.
 *
 * The application starts before the first event. Background tasks run after the response is sent.
 *
 * @throws ConfigurationError outside of Lambda's Node.js runtime, for anything but an application, and for an unknown
 *   option. The handler rejects with one if an event is not an HTTP request.
 * @see {@link https://docs.aws.amazon.com/lambda/latest/dg/config-rs-write-functions.html}
 * @example
 * ```ts
 * import { App, EventSourceResponse } from "tsgi";
 * import { toLambdaStream } from "@tsgi/lambda";
 *
 * async function* ticks() {
 *   for (let id = 1; id <= 3; id++) yield { id };
 * }
 * const app = new App();
 * app.get("/ticks", async () => new EventSourceResponse(ticks()));
 * export const createHandler = () => toLambdaStream(app);
 * ```
 */
export function toLambdaStream(app: ASGIApp, options: LambdaOptions = {}): LambdaStreamHandler {
  const server = createServer("toLambdaStream()", app, options);
  const { awslambda: runtime }: { awslambda?: StreamingRuntime } = globalThis as { awslambda?: StreamingRuntime };
  if (runtime === undefined) throw lambdaError("TSGI_NO_LAMBDA_STREAMS");
  const begin: BeginStream = (stream, head) => runtime.HttpResponseStream.from(stream, head);
  const handler = runtime.streamifyResponse(async (event, responseStream, context) => {
    const open = (source: EventSource) => new StreamedResponse(source, responseStream, begin);
    const { failure } = await serveEvent(server, [event, context], open);
    if (failure !== null) throw failure.error;
  });
  return Object.assign(handler, { close: () => server.close() });
}
