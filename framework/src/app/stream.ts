import { configurationError } from "../exceptions.js";
import { isAsyncFunction, isGeneratorFunction } from "../params.js";
import {
  fromWebResponse,
  isIterable,
  isWebResponse,
  EventSourceResponse,
  isServerSentEvent,
  Response,
  type StreamContent,
  StreamingResponse,
} from "../response.js";
import type { Handler, RouteOptions, StreamFormat } from "../router.js";

/** Makes JSON text of one item, after `returns` has checked it. */
type ItemText = (item: unknown) => Promise<string> | string;

/** The items of a handler, one JSON text a line. */
class JSONLinesResponse extends StreamingResponse<unknown> {
  readonly #toText: ItemText;

  constructor(content: StreamContent<unknown>, statusCode: number, toText: ItemText) {
    super(content, { statusCode, mediaType: "application/jsonl" });
    this.#toText = toText;
  }

  protected override encode(item: unknown): Promise<string> | string {
    const text = this.#toText(item);
    return typeof text === "string" ? `${text}\n` : text.then((late) => `${late}\n`);
  }
}

/** The items of a handler, each the data of one event or an event itself. */
class EventsResponse extends EventSourceResponse {
  readonly #toText: ItemText;

  constructor(content: StreamContent<unknown>, statusCode: number, toText: ItemText) {
    super(content, { statusCode });
    this.#toText = toText;
  }

  protected override async encode(item: unknown): Promise<string> {
    const event = isServerSentEvent(item) ? item : { data: item };
    if (event.data === undefined && isServerSentEvent(item)) return super.encode(item);
    const text = await this.#toText(event.data);
    // Text is data as it is.
    const data: unknown = text.startsWith('"') ? JSON.parse(text) : text;
    return super.encode({ ...event, data });
  }
}

const FORMATS = { jsonl: JSONLinesResponse, sse: EventsResponse } as const;

/** Tells if a response was made of yielded items: then its status and its headers are the route's. */
export function isHandlerStream(response: Response): boolean {
  return response instanceof JSONLinesResponse || response instanceof EventsResponse;
}

/**
 * The format in which a route streams, or `null`.
 *
 * @throws ConfigurationError when the option is another word, or the handler cannot stream.
 */
export function streamFormat(handler: Handler, { stream }: RouteOptions): StreamFormat | null {
  if (stream === undefined) return isGeneratorFunction(handler) ? "jsonl" : null;
  if (!isAsyncFunction(handler)) {
    throw configurationError("TSGI_STREAM_NOT_ON_EVENT_LOOP");
  }
  return stream;
}

function toStream(result: unknown, format: StreamFormat, statusCode: number, toText: ItemText): Response {
  if (result instanceof Response) return result;
  if (isWebResponse(result)) return fromWebResponse(result);
  if (!isIterable(result))
    throw new TypeError("A handler with the option `stream` yields its items, or returns an iterable.");
  return new FORMATS[format](result as StreamContent<unknown>, statusCode, toText);
}

/** The handler, with a response in the place of its generator. */
export function streamingHandler(
  handler: (args: object) => unknown,
  format: StreamFormat,
  statusCode: number,
  toText: ItemText,
): (args: object) => unknown {
  return (args) => {
    const result = handler(args);
    return result instanceof Promise
      ? result.then((late: unknown) => toStream(late, format, statusCode, toText))
      : toStream(result, format, statusCode, toText);
  };
}
