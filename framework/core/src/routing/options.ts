/** Options of routes and routers, and the rules by which they are checked. @module */
import { markCopy } from "../common/copies.js";
import type { ExceptionHandlersInit } from "../http/exception-handlers.js";
import type { MarkedEvent } from "../http/response/event-source.js";
import { configurationError } from "../common/exceptions.js";
import type { Limits } from "../http/limits.js";
import type { Middleware } from "../middleware/chain.js";
import {
  ANYTHING,
  assertOptions,
  expecting,
  FLAG,
  FUNCTION,
  isObject,
  LIST,
  OBJECT,
  oneOf,
  type OptionRule,
  type OptionRules,
  TEXT,
  whole,
} from "../common/options.js";
import type { WhenStopping } from "../protocol/server-context.js";
import type { Marker } from "../parameters/marker.js";
import type { Params, ResponseDocs } from "../parameters/annotation.js";
import type { RequestApp } from "../http/request.js";
import { isSchema, type Schema, type Readable, type SchemaInput } from "../schema/schema.js";

/** The format of a stream: one JSON text a line, or server-sent events. */
export type StreamFormat = "jsonl" | "sse";

/** Options of the calls of a plain handler in the pool. */
export interface RoutePoolOptions {
  /**
   * `true` terminates a call with a disconnected client together with its worker, which is replaced. A new process
   * costs about 50 ms of processor time, so use this for calls that take seconds. Defaults to `false`: the call runs to
   * its end.
   */
  endOnDisconnect?: boolean;
}

/** The tool that a route is to agents. */
export interface ToolOptions {
  /** 1 to 128 letters, digits, `_`, `-` and `.`, unique in the application. Defaults to the operation's id. */
  name?: string;
  /** Tells an agent when to call it. Defaults to the description of the route, else its summary. */
  description?: string;
}

/** The options of a route that have no effect on types. */
export interface RouteMetadata {
  /** Groups in the document. */
  tags?: readonly string[];
  /** HTTP status code of a result other than a `Response`. Defaults to 200. */
  statusCode?: number;
  /** One line for the document. Defaults to the handler's name in words. */
  summary?: string;
  /** Markdown for the document. */
  description?: string;
  /** The operation's name in generated clients, unique in the document. */
  operationId?: string;
  deprecated?: boolean;
  /** `false` leaves the route out of the document. Defaults to `true`. */
  includeInSchema?: boolean;
  /** Further responses for the document, by status. */
  responses?: ResponseDocs;
  /** Requests that the application sends to the client later, for the document. */
  callbacks?: Callbacks;
  /** Dependencies that run before those of the params, one at a time, and whose results are not used. */
  dependencies?: readonly Marker<unknown>[];
  /** The name for `urlPathFor`. Defaults to the handler's name. */
  name?: string;
  /** Middleware only for this route, the last outermost. */
  middleware?: readonly Middleware[];
  /** Exception handlers only for this route. */
  exceptionHandlers?: ExceptionHandlersInit;
  /** The format of a stream. Defaults to `"jsonl"`, JSON Lines, for a generator. */
  stream?: StreamFormat;
  /**
   * Adds an `ETag` to the result of a `GET`, a digest of its JSON text. Requests whose `If-None-Match` has it get 304 without
   * a body, and those whose `If-Match` does not have it get 412 (RFC 9110 §13). A `Response` that the handler returns is sent
   * unchanged. Defaults to `false`.
   */
  etag?: boolean;
  /** `false` runs a non-async handler on the event loop, which is blocked while it runs. */
  pool?: boolean | RoutePoolOptions;
  /** Limits only for this route. */
  limits?: Partial<Limits>;
  /** Offers the route to agents as a tool, where `mcp` of `@tsgi/mcp` serves them. Defaults to `false`. */
  mcp?: boolean | ToolOptions;
  /**
   * The rule for a streamed response when the server stops. `"finish"`: the server waits for its end, and cuts it at the
   * timeout of the shutdown. `"end"`: it ends immediately, as if it were complete. By default, a `GET` of
   * `text/event-stream` stops immediately, so that its client connects again, and every other response finishes.
   */
  whenStopping?: WhenStopping;
}

/** The values of the option `returns`: the schema of a result or of each item, or those of a stream's named events. */
export type Returns = Schema | EventSchemas;

/** A union that has a name is not instantiated: in a signature itself it costs a route 2 instantiations. */
export type MaybeReturns = Returns | undefined;

/** The options of a route. */
export interface RouteOptions<P = Params, R = Returns | undefined> extends RouteMetadata {
  /** Names and annotations of the handler's parameters. */
  params?: P;
  /**
   * The schema of the result: checked when compiling and when running, and the only thing that leaves the process. For
   * a stream, the schema of each item, and for `stream: "sse"` the schema of each event's data, or `sse({ … })`.
   */
  returns?: R;
}

/** Schemas of the JSON messages of a WebSocket. */
export interface MessageSchemas<Receives = Schema | undefined, Sends = Schema | undefined> {
  /**
   * The schema of messages from the client: `receiveJson` and `for await` return their values. An invalid message
   * closes the WebSocket with 1007, and the log contains its errors.
   */
  receives?: Receives;
  /** The schema of messages for `sendJson`: checked when compiling and when running; unknown properties are removed. */
  sends?: Sends;
}

/** The options of a WebSocket route. */
export interface WebSocketOptions<P = Params, Receives = Schema | undefined, Sends = Schema | undefined>
  extends Omit<RouteMetadata, "whenStopping">, MessageSchemas<Receives, Sends> {
  /** Names and annotations of the handler's parameters. */
  params?: P;
}

/** The options of `route`, which serves several methods with one handler. */
export interface MultiRouteOptions<Method extends string = string> {
  /** In any case. Defaults to `["GET"]`. */
  methods?: readonly Method[];
}

/** Startup before the `yield`, shutdown after it. The value that it yields is added to the state of every scope. */
export type RouterLifespan = {
  /** A method, so that a function of an `App` is one as well. */
  run(app: RequestApp): AsyncGenerator<Record<string, unknown> | void, void, unknown>;
}["run"];

/** Options that a router adds to each of its routes. */
export interface IncludeOptions {
  /** The prefix of each pattern. May have `{names}`, which the handlers declare with `Path()`. */
  prefix?: string;
  /** Tags before the tags of each route. */
  tags?: readonly string[];
  /** Run before the dependencies of each route. */
  dependencies?: readonly Marker<unknown>[];
  /** Around each route, the last outermost. */
  middleware?: readonly Middleware[];
  /** Used after the exception handlers of each route. */
  exceptionHandlers?: ExceptionHandlersInit;
  /** Further responses of each route for the document. */
  responses?: RouteMetadata["responses"];
  /** Marks each route in the document. */
  deprecated?: boolean;
  /** `false` excludes each route from the document. */
  includeInSchema?: boolean;
}

/** The options of a `Router`. */
export interface RouterOptions<
  Prefix extends string = string,
  Responses extends ResponseDocs = ResponseDocs,
> extends IncludeOptions {
  prefix?: Prefix;
  /** Further responses of each route for the document, and of the routes of this router for typed clients. */
  responses?: Responses;
  /**
   * Startup and shutdown for the routes, run once inside the application's own lifespan, with the application as the
   * argument. The value that it yields is merged into the application's state.
   */
  lifespan?: RouterLifespan;
}

const PREFIX: OptionRule = (place, option, value) => {
  TEXT(place, option, value);
  const prefix = value as string;
  if (prefix === "" || (prefix.startsWith("/") && !prefix.endsWith("/"))) return;
  throw configurationError("TSGI_INVALID_PREFIX", prefix, `/${prefix.split("/").filter(Boolean).join("/")}`);
};

/** A list of functions. */
export const MIDDLEWARE_LIST: OptionRule = (place, option, value) => {
  LIST(place, option, value);
  for (const layer of value as readonly unknown[]) {
    if (typeof layer !== "function") throw configurationError("TSGI_MIDDLEWARE_NOT_A_FUNCTION.listed", place, layer);
  }
};

export const INCLUDE_OPTIONS: OptionRules<IncludeOptions> = {
  prefix: PREFIX,
  tags: LIST,
  dependencies: LIST,
  middleware: MIDDLEWARE_LIST,
  exceptionHandlers: ANYTHING,
  responses: OBJECT,
  deprecated: FLAG,
  includeInSchema: FLAG,
};

export const ROUTER_OPTIONS: OptionRules<RouterOptions> = { ...INCLUDE_OPTIONS, lifespan: FUNCTION };

const BOOLEAN_OR_OBJECT = expecting("true, false or { endOnDisconnect: true }", isObject);

const ROUTE_POOL: OptionRule = (place, option, value) => {
  if (typeof value === "boolean") return;
  BOOLEAN_OR_OBJECT(place, option, value);
  assertOptions(`${place}: ${option}`, value, { endOnDisconnect: FLAG });
};

const TOOL_OBJECT = expecting("true, false or { name, description }", isObject);

const TOOL: OptionRule = (place, option, value) => {
  if (typeof value === "boolean") return;
  TOOL_OBJECT(place, option, value);
  assertOptions(`${place}: ${option}`, value, { name: TEXT, description: TEXT });
};

const SCHEMA = expecting("a schema such as t.Object({ … })", isSchema);

const SHARED_OPTIONS: OptionRules<Omit<RouteOptions, "whenStopping">> = {
  params: OBJECT,
  returns: ANYTHING,
  tags: LIST,
  statusCode: whole(200, 599),
  summary: TEXT,
  description: TEXT,
  operationId: TEXT,
  deprecated: FLAG,
  includeInSchema: FLAG,
  responses: OBJECT,
  callbacks: OBJECT,
  dependencies: LIST,
  name: TEXT,
  middleware: MIDDLEWARE_LIST,
  exceptionHandlers: ANYTHING,
  stream: oneOf("jsonl", "sse"),
  etag: FLAG,
  pool: ROUTE_POOL,
  limits: OBJECT,
  mcp: TOOL,
};

export const ROUTE_OPTIONS: OptionRules<RouteOptions> = { ...SHARED_OPTIONS, whenStopping: oneOf("finish", "end") };

/** The same for a WebSocket, which the server closes with 1012, together with the schemas of its messages. */
export const WEBSOCKET_OPTIONS: OptionRules<Omit<RouteOptions, "whenStopping"> & MessageSchemas> = {
  ...SHARED_OPTIONS,
  receives: SCHEMA,
  sends: SCHEMA,
};

/** @throws ConfigurationError for what cannot be the options of a route. */
export function assertRouteOptions(place: string, given: unknown): object {
  if (given === undefined) return {};
  if (typeof given === "object" && given !== null && !Array.isArray(given) && !(given instanceof Promise)) return given;
  throw configurationError("TSGI_INVALID_ROUTE_ARGUMENTS", place, given);
}

/** The schema of the data of each event, by the event's name. */
export type EventSchemaMap = Readonly<Record<string, Schema>>;

/** The named events of a stream, as `sse` makes them. */
export class EventSchemas<Events extends EventSchemaMap = EventSchemaMap> {
  static {
    markCopy(this);
  }

  /** The schema of the data of each event, by the event's name. */
  readonly events: Events;

  constructor(events: Events) {
    this.events = events;
  }
}

/** The fields of an event in addition to its data. */
interface EventFields {
  /** Value of `Last-Event-ID` when the client connects again. */
  readonly id?: string | number;
  /** Milliseconds before a client that lost its connection tries again. */
  readonly retry?: number;
  /** A line that clients skip. */
  readonly comment?: string;
}

/** An event whose data have one type, as `event()` marks it. */
export interface DataEvent<Data> extends EventFields, MarkedEvent {
  /** The name that listeners are told apart by. */
  readonly event?: string;
  readonly data: Data;
}

/** An event of one name. */
export interface NamedEvent<Name, Data> extends EventFields {
  readonly event: Name;
  readonly data: Data;
}

/** One of the events that `sse` names, as a handler yields it. */
export type EventOf<Events> = {
  [Name in keyof Events]: NamedEvent<Name, Readable<SchemaInput<Events[Name]>>>;
}[keyof Events];

/**
 * Names the events of a stream, each with the schema of its data: `returns` with `stream: "sse"`. The handler yields `{
 * event, data, id?, retry? }`. An event of another name, and data that do not fit, are errors as an item that does not
 * fit `returns` is.
 *
 * @example
 * ```ts
 * import { App, sse, t } from "tsgi";
 *
 * const app = new App();
 * const events = sse({ token: t.Object({ text: t.String() }), done: t.Null() });
 * app.get("/answer", { stream: "sse", returns: events }, async function* () {
 *   yield { event: "token", data: { text: "Hello" }, id: 1 };
 *   yield { event: "done", data: null };
 * });
 * ```
 */
export function sse<const Events extends EventSchemaMap>(events: Events): EventSchemas<Events> {
  return new EventSchemas(events);
}

/** A request that the application sends to its client later, told in the words of a route. */
export interface CallbackOperation {
  /** The parameters of the request. Declared as in a route; a bare object schema is the body. */
  params?: Params;
  /** The schema of the expected response. */
  returns?: Schema;
  /** With which status. Defaults to 200. */
  statusCode?: number;
  responses?: ResponseDocs;
  summary?: string;
  description?: string;
  operationId?: string;
  deprecated?: boolean;
}

/** The methods that a callback can be sent with. */
type CallbackMethod = "get" | "put" | "post" | "delete" | "options" | "head" | "patch" | "trace";

/**
 * Requests by name, address and method. An address contains expressions with data of the request: `{ shipped: {
 * "{$request.body#/callback_url}": { post: { params: { event: Shipment } } } } }`.
 *
 * @see OpenAPI 3.0.3 §4.7.18
 */
export type Callbacks = Readonly<
  Record<string, Readonly<Record<string, Readonly<Partial<Record<CallbackMethod, CallbackOperation>>>>>>
>;
