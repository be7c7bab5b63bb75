/** Streaming responses of handlers that yield: JSON lines and server-sent events. @module */
import { configurationError } from "../common/exceptions.js";
import { isAsyncFunction, isGeneratorFunction } from "../parameters/annotation.js";
import { fromWebResponse, isWebResponse } from "../http/response/web.js";
import { isIterable, type StreamContent, StreamingResponse } from "../http/response/streaming.js";
import { EventSourceResponse } from "../http/response/event-source.js";
import { Response } from "../http/response/response.js";
import { EventSchemas } from "../routing/event-schemas.js";
import type { Handler } from "../routing/entries.js";
import type { Returns, RouteOptions, StreamFormat } from "../routing/options.js";
import { type CompiledReturns, compileReturns } from "../schema/schema.js";
import { compileEvents, type ToEvent } from "./events.js";
import { resultJSON } from "./result.js";

/** Makes the response of a handler's items. */
export type ToStream = (items: StreamContent<unknown>) => Response;

/** Makes JSON text of one item, after `returns` has checked it. */
type ItemText = (item: unknown) => Promise<string> | string;

/** The items of a handler, one JSON text a line. */
class JSONLinesResponse extends StreamingResponse<unknown> {
  readonly #toText: ItemText;

  constructor(items: StreamContent<unknown>, statusCode: number, toText: ItemText) {
    super(items, { statusCode, mediaType: "application/jsonl" });
    this.#toText = toText;
  }

  protected override encode(item: unknown): Promise<string> | string {
    const text = this.#toText(item);
    return typeof text === "string" ? `${text}\n` : text.then((late) => `${late}\n`);
  }
}

/** The items of a handler, each the data of one event or an event itself. */
class EventsResponse extends EventSourceResponse {
  readonly #toEvent: ToEvent;

  constructor(items: StreamContent<unknown>, statusCode: number, toEvent: ToEvent) {
    super(items, { statusCode });
    this.#toEvent = toEvent;
  }

  protected override async encode(item: unknown): Promise<string> {
    return this.encodeEvent(await this.#toEvent(item));
  }
}

/** Tells if a response was made of yielded items: then its status and its headers are the route's. */
export function isHandlerStream(response: Response): boolean {
  return response instanceof JSONLinesResponse || response instanceof EventsResponse;
}

/**
 * The format in which a route streams, or `null`.
 *
 * @throws ConfigurationError when the option is another word, or the handler cannot stream.
 */
function streamFormat(handler: Handler, { stream }: RouteOptions): StreamFormat | null {
  if (stream === undefined) return isGeneratorFunction(handler) ? "jsonl" : null;
  if (!isAsyncFunction(handler)) {
    throw configurationError("TSGI_STREAM_NOT_ON_EVENT_LOOP");
  }
  return stream;
}

function compileStream(format: StreamFormat, returns: Returns | null, statusCode: number): ToStream {
  if (format === "sse") {
    const toEvent = compileEvents(returns);
    return (items) => new EventsResponse(items, statusCode, toEvent);
  }
  const write = compileSchemaOf(returns);
  return (items) => new JSONLinesResponse(items, statusCode, (item) => resultJSON(write, item));
}

/** @throws ConfigurationError for what is not a schema, as named events outside `stream: "sse"`. */
function compileSchemaOf(returns: Returns | null): CompiledReturns | null {
  if (returns instanceof EventSchemas) throw configurationError("TSGI_EVENTS_WITHOUT_STREAM");
  return returns && compileReturns(returns);
}

/** The compiled options of a route that say what becomes of a result. */
interface CompiledResult {
  /** The format of yielded items; `null` for a handler that returns its result. */
  readonly format: StreamFormat | null;
  /** The schema of a result; `null` for a stream, whose items have it, and where there is none. */
  readonly returns: CompiledReturns | null;
  /** Makes the response of yielded items. */
  readonly toStream: ToStream | null;
}

/** @throws ConfigurationError for `stream` or `returns` that cannot work. */
export function compileResult(handler: Handler, options: RouteOptions): CompiledResult {
  const { returns = null, statusCode = 200 } = options;
  const format = streamFormat(handler, options);
  return format === null
    ? { format, returns: compileSchemaOf(returns), toStream: null }
    : { format, returns: null, toStream: compileStream(format, returns, statusCode) };
}

function toResponse(result: unknown, toStream: ToStream): Response {
  if (result instanceof Response) return result;
  if (isWebResponse(result)) return fromWebResponse(result);
  if (isIterable(result)) return toStream(result as StreamContent<unknown>);
  throw new TypeError("A handler with the option `stream` yields its items, or returns an iterable.");
}

/** The handler, with a response in the place of its items. */
export function streamingHandler(handler: (args: object) => unknown, toStream: ToStream): (args: object) => unknown {
  return (args) => {
    const result = handler(args);
    return result instanceof Promise
      ? result.then((late: unknown) => toResponse(late, toStream))
      : toResponse(result, toStream);
  };
}
