import type { ExceptionHandlersInit } from "../exception-handlers.js";
import type { Limits } from "../limits.js";
import type { Middleware } from "../chain.js";
import type { Args, Marker, Params, PathNames } from "../params.js";
import type { Response } from "../response.js";
import type { Schema, SchemaInput } from "../schema.js";
import type { WebSocket } from "../websocket.js";
import type { Callbacks, ResponseDocs } from "./document-options.js";

/** How what a handler yields is sent: one JSON text a line, or as server-sent events. */
export type StreamFormat = "jsonl" | "sse";

/** How the calls of a plain handler run in the pool. */
export interface RoutePoolOptions {
  /**
   * Whether a call whose client has gone is ended together with its worker, which is replaced. A new process costs some
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
  /** Whether the document lists it. Defaults to `true`. */
  includeInSchema?: boolean;
  /** Further responses for the document, by status. */
  responses?: ResponseDocs;
  /** Requests that the application sends to the client later, for the document. */
  callbacks?: Callbacks;
  /** Dependencies that run before those of the params, one after the other, and whose results nobody asks for. */
  dependencies?: readonly Marker<unknown>[];
  /** What `urlPathFor` finds the route by. Defaults to the handler's name. */
  name?: string;
  /** Middleware for this route alone, the last outermost. */
  middleware?: readonly Middleware[];
  /** Handlers of errors for this route alone. */
  exceptionHandlers?: ExceptionHandlersInit;
  /** How what the handler yields is sent. Defaults to `"jsonl"`, JSON Lines, for a generator. */
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

/** A mistake that the compiler shows: `Path()` under a name that the pattern lacks. */
type MissingNames<P, Path extends string> = {
  [
    K in keyof P as P[K] extends { readonly in: "path" } ? Exclude<K, PathNames<Path>> : never
  ]: `the pattern ${Path} has no {${K & string}}`;
};

/** Nothing to add where no parameter is declared with `Path()`, which is cheap to find out. */
type CheckPath<P, Path extends string> = [Extract<P[keyof P], { readonly in: "path" }>] extends [never]
  ? unknown
  : MissingNames<P, Path>;

/** The names of the pattern that the params do not declare: strings. */
type UndeclaredNames<P, Path extends string> = Exclude<PathNames<Path>, keyof P>;

/**
 * What a handler is called with. A mapped type over `keyof P` alone costs the compiler half of one over
 * `keyof P | PathNames<Path>` (60 instantiations a route against 101), so that the pattern's names come beside it.
 */
export type HandlerArgs<P, Path extends string> = [UndeclaredNames<P, Path>] extends [never]
  ? Args<P>
  : Args<P> & { [K in UndeclaredNames<P, Path>]: string };

/** A value that is only read: what a handler gives is written as JSON, so that constants and frozen lists do as well. */
type Readable<T> = T extends Date ? T : T extends object ? { readonly [K in keyof T]: Readable<T[K]> } : T;

/**
 * What a handler may give, or a promise of it. The verbs infer it as a `const` type of its own that extends this one:
 * written as the handler's result itself it costs 50 instantiations more a route, and without `const` the literals of
 * an enum are widened to text.
 */
export type HandlerResult<R> = [R] extends [Schema] ? Readable<SchemaInput<R>> | Response : unknown;

/** What a generator gives: its results one by one. */
type Items<O> = AsyncGenerator<O, unknown, undefined> | Generator<O, unknown, undefined>;

/**
 * How a handler gives its result: at once, later, or item by item. Where the verbs' form for generators comes last it
 * takes any of these, though all others have found theirs by then: the compiler reports what the last form says of a
 * wrong result, and of `Items` alone it says that a promise is no generator.
 */
export type Returned<O> = O | Promise<O> | Items<O>;

/** Registers handlers for one method on an `App`. Each form gives the handler back. */
export interface AppVerb {
  <const Path extends string, H extends (args: { [K in PathNames<Path>]: string }) => unknown>(
    path: Path,
    handler: H,
  ): H;
  <
    const Path extends string,
    P extends Params = {},
    R extends Schema | undefined = undefined,
    const O extends HandlerResult<R> = HandlerResult<R>,
  >(
    path: Path,
    options: RouteOptions<P & CheckPath<P, Path>, R>,
    handler: (args: HandlerArgs<P, Path>) => O | Promise<O>,
  ): (args: HandlerArgs<P, Path>) => O | Promise<O>;
  <
    const Path extends string,
    P extends Params = {},
    R extends Schema | undefined = undefined,
    const O extends HandlerResult<R> = HandlerResult<R>,
  >(
    path: Path,
    options: RouteOptions<P & CheckPath<P, Path>, R>,
    handler: (args: HandlerArgs<P, Path>) => Returned<O>,
  ): (args: HandlerArgs<P, Path>) => Items<O>;
  <const Path extends string, P extends Params = {}, R extends Schema | undefined = undefined>(
    path: Path,
    options?: RouteOptions<P & CheckPath<P, Path>, R>,
  ): <H extends (args: HandlerArgs<P, Path>) => Returned<HandlerResult<R>>>(handler: H) => H;
}

/** The same where the whole pattern is known, as it is on an `App`. */
type CheckWhole<P, Path extends string, IsWhole extends boolean> = IsWhole extends true ? CheckPath<P, Path> : unknown;

/**
 * Registers handlers of WebSockets on an `App` or, with the names of its prefix, on a `Router`. Gives the handler back.
 *
 * @typeParam IsWhole - Whether no outer prefix can come before the path, so that `Path()` has to be in it.
 */
export interface SocketVerb<Prefix extends string = "", IsWhole extends boolean = false> {
  <
    const Path extends string,
    H extends (args: { [K in PathNames<`${Prefix}${Path}`>]: string } & { ws: WebSocket }) => unknown,
  >(
    path: Path,
    handler: H,
  ): H;
  <const Path extends string, P extends Params = {}>(
    path: Path,
    options: RouteOptions<P & CheckWhole<P, Path, IsWhole>, undefined>,
    handler: (args: HandlerArgs<P, `${Prefix}${Path}`> & { ws: WebSocket }) => unknown,
  ): (args: HandlerArgs<P, `${Prefix}${Path}`> & { ws: WebSocket }) => unknown;
}

/** The options of `route`, which serves several methods with one handler. */
export interface MultiRouteOptions {
  /** In any case. Defaults to `["GET"]`. */
  methods?: readonly string[];
}

/**
 * Registers one handler for several methods, on an `App` or, with the names of its prefix, on a `Router`.
 *
 * @typeParam IsWhole - Whether no outer prefix can come before the path, so that `Path()` has to be in it.
 */
export interface MultiVerb<Prefix extends string = "", IsWhole extends boolean = false> {
  <
    const Path extends string,
    P extends Params = {},
    R extends Schema | undefined = undefined,
    const O extends HandlerResult<R> = HandlerResult<R>,
  >(
    path: Path,
    options: RouteOptions<P & CheckWhole<P, Path, IsWhole>, R> & MultiRouteOptions,
    handler: (args: HandlerArgs<P, `${Prefix}${Path}`>) => O | Promise<O>,
  ): (args: HandlerArgs<P, `${Prefix}${Path}`>) => O | Promise<O>;
  <
    const Path extends string,
    P extends Params = {},
    R extends Schema | undefined = undefined,
    const O extends HandlerResult<R> = HandlerResult<R>,
  >(
    path: Path,
    options: RouteOptions<P & CheckWhole<P, Path, IsWhole>, R> & MultiRouteOptions,
    handler: (args: HandlerArgs<P, `${Prefix}${Path}`>) => Returned<O>,
  ): (args: HandlerArgs<P, `${Prefix}${Path}`>) => Items<O>;
  <const Path extends string, P extends Params = {}, R extends Schema | undefined = undefined>(
    path: Path,
    options: RouteOptions<P & CheckWhole<P, Path, IsWhole>, R> & MultiRouteOptions,
  ): <H extends (args: HandlerArgs<P, `${Prefix}${Path}`>) => Returned<HandlerResult<R>>>(handler: H) => H;
}

/** Registers handlers for one method on a `Router`, whose outer prefix nobody knows yet. */
export interface RouterVerb<Prefix extends string> {
  <const Path extends string, H extends (args: { [K in PathNames<`${Prefix}${Path}`>]: string }) => unknown>(
    path: Path,
    handler: H,
  ): H;
  <
    const Path extends string,
    P extends Params = {},
    R extends Schema | undefined = undefined,
    const O extends HandlerResult<R> = HandlerResult<R>,
  >(
    path: Path,
    options: RouteOptions<P, R>,
    handler: (args: HandlerArgs<P, `${Prefix}${Path}`>) => O | Promise<O>,
  ): (args: HandlerArgs<P, `${Prefix}${Path}`>) => O | Promise<O>;
  <
    const Path extends string,
    P extends Params = {},
    R extends Schema | undefined = undefined,
    const O extends HandlerResult<R> = HandlerResult<R>,
  >(
    path: Path,
    options: RouteOptions<P, R>,
    handler: (args: HandlerArgs<P, `${Prefix}${Path}`>) => Returned<O>,
  ): (args: HandlerArgs<P, `${Prefix}${Path}`>) => Items<O>;
  <const Path extends string, P extends Params = {}, R extends Schema | undefined = undefined>(
    path: Path,
    options?: RouteOptions<P, R>,
  ): <H extends (args: HandlerArgs<P, `${Prefix}${Path}`>) => Returned<HandlerResult<R>>>(handler: H) => H;
}
