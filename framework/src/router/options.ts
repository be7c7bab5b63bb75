import type { ExceptionHandlersInit } from "../exception-handlers.js";
import type { Limits } from "../limits.js";
import type { Middleware } from "../chain.js";
import type { Marker, Params } from "../params.js";
import type { Schema } from "../schema.js";
import type { Callbacks, ResponseDocs } from "./document-options.js";

/** The format of a stream: one JSON text a line, or server-sent events. */
export type StreamFormat = "jsonl" | "sse";

/** Options of the calls of a plain handler in the pool. */
export interface RoutePoolOptions {
  /**
   * `true` ends a call whose client has gone together with its worker, which is replaced. A new process costs some
   * 50 ms of processor time, so that this is for calls that take seconds. Defaults to `false`: the call runs to its end.
   */
  endOnDisconnect?: boolean;
}

/** The options of a route that say nothing about types. */
export interface RouteMetadata {
  /** Groups in the document. */
  tags?: readonly string[];
  /** HTTP status code of a result that is no `Response`. Defaults to 200. */
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
  /** Dependencies that run before those of the params, one after the other, and whose results nobody asks for. */
  dependencies?: readonly Marker<unknown>[];
  /** The name for `urlPathFor`. Defaults to the handler's name. */
  name?: string;
  /** Middleware for this route alone, the last outermost. */
  middleware?: readonly Middleware[];
  /** Handlers of errors for this route alone. */
  exceptionHandlers?: ExceptionHandlersInit;
  /** The format of a stream. Defaults to `"jsonl"`, JSON Lines, for a generator. */
  stream?: StreamFormat;
  /** `false` keeps a plain handler on the event loop, which does nothing else while it runs. */
  pool?: boolean | RoutePoolOptions;
  /** Limits for this route alone. */
  limits?: Partial<Limits>;
}

/** The options of a route. */
export interface RouteOptions<P = Params, R = Schema | undefined> extends RouteMetadata {
  /** Names and annotations of the handler's parameters. */
  params?: P;
  /** The schema of the result: checked when compiling and when running, and the only thing that leaves the process. */
  returns?: R;
}

/** The options of `route`, which serves several methods with one handler. */
export interface MultiRouteOptions {
  /** In any case. Defaults to `["GET"]`. */
  methods?: readonly string[];
}
