/** The types of the verbs, by which a route is registered. @module */
import type { HandlerTakesOneObject } from "../parameters/type-errors.js";
import type { PathNames, ResponseDocs } from "../parameters/annotation.js";
import type { Marker } from "../parameters/marker.js";
import type { Readable, Schema, SchemaInput, SchemaOutput } from "../schema/schema.js";
import type { TypedWebSocket, WebSocket } from "../http/websocket.js";
import type { Around as AroundOf, Owner, Surroundings } from "./owner.js";
import type { OwnParams } from "./call-arguments.js";
import type { MaybeReturns, MultiRouteOptions, RouteMetadata, WebSocketOptions } from "./options.js";
import type {
  CheckResult,
  CheckRoute,
  FromPath,
  HandlerArgs,
  PatternError,
  Returned,
  Suspicious,
} from "./route-types.js";
import type {
  Routed,
  SocketTypesOf,
  SocketTypesOfDecorated,
  TypesOf,
  TypesOfDecorated,
  TypesOfHandler,
} from "./routed.js";

/** Replaces a missing handler, if the verb is used as a decorator. */
export interface NoHandler {
  readonly noHandler: never;
}

/** A handler without options, or undefined. */
export type Handler<Args> = NoHandler | ((args: Args, ...none: HandlerTakesOneObject[]) => unknown);

/**
 * The options of a route, under a name that tells where they belong: the compiler shows it for a handler in their
 * place. It repeats the members of `RouteOptions`, because an interface in between costs a route 4 instantiations.
 */
export interface OptionsBeforeHandler<P, R, Responses, D> extends Omit<RouteMetadata, "responses" | "dependencies"> {
  /** Names and annotations of the handler's parameters. */
  params?: P;
  /** The schema of the result: checked when compiling and when running, and the only thing that leaves the process. */
  returns?: R;
  /** Further responses for the document and for clients, by status. */
  responses?: Responses;
  /** Dependencies that run before the parameters, one at a time, and whose results are not used. */
  dependencies?: readonly D[];
}

/** The handler that a verb gets later, as a decorator, with the types of its route. */
type Decorator<Args, Method extends string, Path extends string, P, R, Responses, D, Declared> = <
  H extends (args: Args) => Returned<R>,
>(
  handler: H,
) => Routed<Method, Path, TypesOfDecorated<H, P, Path, R, Responses, D, Declared>>;

/** The result of the form without a handler, or with only a handler. */
export type Added<
  H,
  Method extends string,
  Path extends string,
  P,
  R,
  Responses,
  D,
  Of extends Surroundings,
> = NoHandler extends H
  ? Decorator<HandlerArgs<P, Path>, Method, Path, P, R, Responses, D, Of["responses"]>
  : Routed<Method, Path, TypesOfHandler<H, {}, Path, undefined, {}, never, Of["responses"]>["types"]>;

/**
 * The verbs that are rare. `this` has the prefix of the router, as for `AppGet`.
 *
 * @typeParam Method - In upper case.
 */
export interface Verb<Method extends string> {
  <
    const Path extends string,
    Prefix extends string,
    Around extends Surroundings,
    P extends CheckRoute<P, Path, Around> = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    D extends Marker<unknown> = never,
    H extends Handler<FromPath<PathNames<`${Prefix}${Path}`>>> = Handler<FromPath<PathNames<`${Prefix}${Path}`>>>,
  >(
    this: Owner<Prefix, Around>,
    path: Path extends Suspicious ? PatternError<Path> : Path,
    handler?: H | OptionsBeforeHandler<P, R, Responses, D>,
  ): Added<H, Method, `${Prefix}${Path}`, P, R, Responses, D, Around>;
  <
    const Path extends string,
    Prefix extends string,
    Around extends Surroundings,
    P extends CheckRoute<P, Path, Around> = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    D extends Marker<unknown> = never,
    const Out extends CheckResult<Out, R> = never,
  >(
    this: Owner<Prefix, Around>,
    path: Path extends Suspicious ? PatternError<Path> : Path,
    options: OptionsBeforeHandler<P, R, Responses, D>,
    handler: (
      args: HandlerArgs<P, `${Prefix}${Path}`>,
      ...none: HandlerTakesOneObject[]
    ) => Out | AsyncIterable<Out[never]>,
  ): Routed<Method, `${Prefix}${Path}`, TypesOf<P, `${Prefix}${Path}`, R, Responses, Out, D, Around>["types"]>;
}

/** The verb `route`, of several methods. It has no form without options. */
export interface MultiVerb {
  <
    const Path extends string,
    Prefix extends string,
    Around extends Surroundings,
    P extends CheckRoute<P, Path, Around> = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    D extends Marker<unknown> = never,
    const Method extends string = "GET",
  >(
    this: Owner<Prefix, Around>,
    path: Path extends Suspicious ? PatternError<Path> : Path,
    options?: OptionsBeforeHandler<P, R, Responses, D> & MultiRouteOptions<Method>,
  ): Added<NoHandler, Uppercase<Method>, `${Prefix}${Path}`, P, R, Responses, D, Around>;
  <
    const Path extends string,
    Prefix extends string,
    Around extends Surroundings,
    P extends CheckRoute<P, Path, Around> = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    D extends Marker<unknown> = never,
    const Method extends string = "GET",
    const Out extends CheckResult<Out, R> = never,
  >(
    this: Owner<Prefix, Around>,
    path: Path extends Suspicious ? PatternError<Path> : Path,
    options: OptionsBeforeHandler<P, R, Responses, D> & MultiRouteOptions<Method>,
    handler: (
      args: HandlerArgs<P, `${Prefix}${Path}`>,
      ...none: HandlerTakesOneObject[]
    ) => Out | AsyncIterable<Out[never]>,
  ): Routed<
    Uppercase<Method>,
    `${Prefix}${Path}`,
    TypesOf<P, `${Prefix}${Path}`, R, Responses, Out, D, Around>["types"]
  >;
}

/** The argument of a handler of WebSockets, with the types of the messages where the route has schemas of them. */
type SocketArgs<P, Path extends string, Receives, Sends> = HandlerArgs<P, Path> & SocketContext<Receives, Sends>;

/** The socket of a handler, in addition to its parameters. */
export interface SocketContext<Receives, Sends> {
  ws: [Receives, Sends] extends [undefined, undefined]
    ? WebSocket
    : TypedWebSocket<
        Receives extends Schema ? SchemaOutput<Receives> : string | Uint8Array,
        Sends extends Schema ? Readable<SchemaInput<Sends>> : unknown
      >;
}

/** The options of a WebSocket, under a name that tells where they belong. */
interface WebSocketOptionsBeforeHandler<P, Receives, Sends> extends WebSocketOptions<P, Receives, Sends> {}

/**
 * The verb `websocket`, whose handlers get the socket in addition to their parameters, and have no result. The schemas
 * of its messages have the place of `returns` in the types of the route.
 */
export interface SocketVerb<Prefix extends string = "", IsWhole extends boolean = false> {
  <
    const Path extends string,
    P extends CheckRoute<P, Path, AroundOf<IsWhole, unknown>> = {},
    Receives extends Schema | undefined = undefined,
    Sends extends Schema | undefined = undefined,
    H extends Handler<FromPath<PathNames<`${Prefix}${Path}`>> & { ws: WebSocket }> = Handler<
      FromPath<PathNames<`${Prefix}${Path}`>> & { ws: WebSocket }
    >,
  >(
    path: Path extends Suspicious ? PatternError<Path> : Path,
    handler?: H | WebSocketOptionsBeforeHandler<P, Receives, Sends>,
  ): NoHandler extends H
    ? SocketDecorator<P, `${Prefix}${Path}`, Receives, Sends>
    : Routed<
        "WEBSOCKET",
        `${Prefix}${Path}`,
        SocketTypesOf<OwnParams<H>, `${Prefix}${Path}`, undefined, undefined>["types"]
      >;
  <
    const Path extends string,
    P extends CheckRoute<P, Path, AroundOf<IsWhole, unknown>> = {},
    Receives extends Schema | undefined = undefined,
    Sends extends Schema | undefined = undefined,
  >(
    path: Path extends Suspicious ? PatternError<Path> : Path,
    options: WebSocketOptionsBeforeHandler<P, Receives, Sends>,
    handler: (args: SocketArgs<P, `${Prefix}${Path}`, Receives, Sends>, ...none: HandlerTakesOneObject[]) => unknown,
  ): Routed<"WEBSOCKET", `${Prefix}${Path}`, SocketTypesOf<P, `${Prefix}${Path}`, Receives, Sends>["types"]>;
}

/** The handler of a WebSocket that the verb gets later. */
type SocketDecorator<P, Path extends string, Receives, Sends> = <
  H extends (args: SocketArgs<P, Path, Receives, Sends>) => unknown,
>(
  handler: H,
) => Routed<"WEBSOCKET", Path, SocketTypesOfDecorated<H, P, Path, Receives, Sends>>;
