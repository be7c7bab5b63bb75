/** Streaming responses of handlers that yield: JSON lines and server-sent events. @module */
import { configurationError, ResponseValidationError, withPlace } from "../common/exceptions.js";
import { isAsyncFunction, isGeneratorFunction } from "../parameters/annotation.js";
import { responseOf } from "../http/response/web.js";
import { isIterable, type StreamContent, StreamingResponse } from "../http/response/streaming.js";
import {
  event,
  EventSourceResponse,
  isMarkedEvent,
  isServerSentEvent,
  type ServerSentEvent,
} from "../http/response/event-source.js";
import type { Response } from "../http/response/response.js";
import { EventSchemas, type Returns, type RouteOptions, type StreamFormat } from "../routing/options.js";
import type { RouteHandler } from "../routing/entries.js";
import { type CompiledReturns, compileReturns, compileSchema, t } from "../schema/schema.js";
import { resultJSON, resultText } from "./result.js";
import { Faults } from "../schema/faults.js";

/** Makes an event of an item, its data checked, cut and written as text. */
type ToEvent = (item: unknown) => Promise<ServerSentEvent> | ServerSentEvent;

/** The text of data: text as it is, anything else as JSON. */
const textOf = (json: string) => (json.startsWith('"') ? (JSON.parse(json) as string) : json);

async function dataText(returns: CompiledReturns, data: unknown, place?: string): Promise<string> {
  return textOf(await resultJSON(returns, data, place));
}

/** Tells if listeners receive an event: a comment, an `id` or a `retry` without data is only for the client itself. */
function isHeard(item: ServerSentEvent): boolean {
  return "data" in item || item.event !== undefined;
}

/** Tells if an item is a comment, which clients skip. */
function isComment(item: unknown): item is ServerSentEvent {
  return isServerSentEvent(item) && Object.keys(item).join() === "comment";
}

/** Only a marked item is an event. Attack: a client's message that has the keys of one. */
function anyEvent(item: unknown): ServerSentEvent {
  if (!isMarkedEvent(item)) return { data: textOf(resultText(item)) };
  return item.data === undefined ? item : { ...item, data: textOf(resultText(item.data)) };
}

/** Events whose data have one schema. As without a schema, only a marked item is an event. */
function eventsOf(returns: CompiledReturns): ToEvent {
  return async (item) => {
    if (!isMarkedEvent(item)) return { data: await dataText(returns, item) };
    return isHeard(item) ? { ...item, data: await dataText(returns, item.data, "data") } : item;
  };
}

/** Names that the field `event` cannot have; an event without a name has an empty one. */
const INVALID_NAME = /^$|[\r\n\0]/;

/** Events by their names, each with a schema of its data. */
function namedEvents({ events }: EventSchemas): ToEvent {
  const names = Object.keys(events);
  const invalid = names.filter((name) => INVALID_NAME.test(name));
  if (names.length === 0 || invalid.length > 0) throw configurationError("TSGI_INVALID_EVENT_NAME", invalid);
  const writers = new Map(
    Object.entries(events).map(([name, schema]) => [
      name,
      withPlace(`the event ${JSON.stringify(name)}`, () => compileReturns(schema)),
    ]),
  );
  const { check } = compileSchema(t.Union(names.map((name) => t.Literal(name))));
  return async (item) => {
    if (isComment(item) || (isMarkedEvent(item) && !isHeard(item))) return item;
    const { event: name, data, id, retry, comment } = Object(item) as ServerSentEvent;
    const returns = writers.get(name as string);
    if (returns === undefined) {
      const faults = new Faults();
      check(name, faults);
      throw new ResponseValidationError(faults.list.map(({ type, msg }) => ({ type, loc: ["event"], msg })));
    }
    const fields = { event: name, data: await dataText(returns, data, "data"), id, retry, comment };
    return isMarkedEvent(item) ? event(fields) : fields;
  };
}

/**
 * Compiles what makes the events of a handler's items.
 *
 * @throws ConfigurationError for a schema that cannot describe sent values.
 */
function compileEvents(returns: Returns | null): ToEvent {
  if (returns === null) return anyEvent;
  return returns instanceof EventSchemas ? namedEvents(returns) : eventsOf(compileReturns(returns));
}

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

  protected override encode(item: unknown): Promise<string> | string {
    const made = this.#toEvent(item);
    return made instanceof Promise ? made.then((late) => this.encodeEvent(late)) : this.encodeEvent(made);
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
function streamFormat(handler: RouteHandler, { stream }: RouteOptions): StreamFormat | null {
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
  return (items) =>
    new JSONLinesResponse(items, statusCode, (item) => (write === null ? resultText(item) : resultJSON(write, item)));
}

/** @throws ConfigurationError for a value that is not a schema, such as named events outside `stream: "sse"`. */
function compileSchemaOf(returns: Returns | null): CompiledReturns | null {
  if (returns instanceof EventSchemas) throw configurationError("TSGI_EVENTS_WITHOUT_STREAM");
  return returns && compileReturns(returns);
}

/** The compiled options of a route that say what becomes of a result. */
export interface CompiledResult {
  /** The format of yielded items; `null` for a handler that returns its result. */
  readonly format: StreamFormat | null;
  /** The schema of a result; `null` for a stream, whose items have it, and without a schema. */
  readonly returns: CompiledReturns | null;
  /** Makes the response of yielded items. */
  readonly toStream: ToStream | null;
}

/** @throws ConfigurationError for `stream` or `returns` that cannot work. */
export function compileResult(handler: RouteHandler, options: RouteOptions): CompiledResult {
  const { returns = null, statusCode = 200 } = options;
  const format = streamFormat(handler, options);
  return format === null
    ? { format, returns: compileSchemaOf(returns), toStream: null }
    : { format, returns: null, toStream: compileStream(format, returns, statusCode) };
}

function toResponse(result: unknown, toStream: ToStream): Response {
  const response = responseOf(result);
  if (response !== null) return response;
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
