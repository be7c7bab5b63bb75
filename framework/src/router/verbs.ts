/** The types of the verbs, by which a route is registered. @module */
import type { CheckParams, HandlerTakesOneObject, PathNames } from "../params.js";
<<<<<<< HEAD
import type { Returns, RouteOptions } from "./options.js";
import type { CheckPattern, CheckRoute } from "./route-checks.js";
import type { CheckResult, FromPath, HandlerArgs, Returned } from "./route-types.js";
=======
import type { Schema } from "../schema.js";
import type { WebSocket } from "../websocket.js";
import type { ResponseDocs } from "./document-options.js";
import type { MultiRouteOptions, RouteMetadata } from "./options.js";
import type { CheckPattern, CheckRoute } from "./route-checks.js";
import type { CheckResult, FromPath, HandlerArgs, HandlerResult, Returned } from "./route-types.js";
import type { Routed, RoutedHandler } from "./routed.js";
>>>>>>> e96ff9a (feat(client): type a client by the routes themselves)

/** Stands in the place of a handler where there is none, and the verb is a decorator. */
export interface NoHandler {
  readonly noHandler: never;
}

/** A handler without options, or none. */
<<<<<<< HEAD
type Handler<Args> = NoHandler | ((args: Args, ...none: HandlerTakesOneObject[]) => unknown);

/** The same for a verb that has no form without options where it has options of its own, as `route` has `methods`. */
type HandlerAlone<Args, Options> = [keyof Options] extends [never] ? Handler<Args> : NoHandler;

/** The options of a route, by a name that says where they stand: the compiler says it of a handler in their place. */
interface OptionsBeforeHandler<P, R> extends RouteOptions<P, R> {}

/** The handler that a verb gets later, as a decorator. */
type Decorator<Args, R> = <H extends (args: Args) => Returned<R>>(handler: H) => H;

/**
 * Registers handlers for one method on an `App`: `(path, handler)`, `(path, options, handler)`, or `(path, options?)` as a
 * decorator. Each form gives the handler back. No two forms take the same number of arguments, so that the compiler
 * explains the one that was meant.
 *
 * It is `Verb<"", true>` without type parameters: any type parameter of the interface, even one that nothing uses, makes a
 * route cost the compiler 133 instantiations instead of 99, beyond the limit of 100.
 *
 * `Out[never]`, from which nothing is inferred, keeps the literals in what an asynchronous generator yields, such as the
 * name of an event: the compiler widens them unless it expects a `const` type parameter of them.
 */
export interface AppVerb {
  <
    const Path extends string,
    P extends CheckRoute<P, Path> = {},
    R extends Returns | undefined = undefined,
    H extends Handler<FromPath<PathNames<Path>>> = Handler<FromPath<PathNames<Path>>>,
  >(
    path: Path & CheckPattern<Path>,
    handler?: H | OptionsBeforeHandler<P, R>,
  ): NoHandler extends H ? Decorator<HandlerArgs<P, Path>, R> : H;
  <
    const Path extends string,
    P extends CheckRoute<P, Path> = {},
    R extends Returns | undefined = undefined,
    const Out extends CheckResult<Out, R> = never,
  >(
    path: Path & CheckPattern<Path>,
    options: OptionsBeforeHandler<P, R>,
    handler: (args: HandlerArgs<P, Path>, ...none: HandlerTakesOneObject[]) => Out | AsyncIterable<Out[never]>,
  ): (args: HandlerArgs<P, Path>) => Out;
=======
export type Handler<Args> = NoHandler | ((args: Args, ...none: HandlerTakesOneObject[]) => unknown);

/**
 * The options of a route, by a name that says where they stand: the compiler says it of a handler in their place. It says
 * again what `RouteOptions` has, since an interface in between costs a route 4 instantiations.
 */
export interface OptionsBeforeHandler<P, R, Responses> extends Omit<RouteMetadata, "responses"> {
  /** Names and annotations of the handler's parameters. */
  params?: P;
  /** The schema of the result: checked when compiling and when running, and the only thing that leaves the process. */
  returns?: R;
  /** Further responses for the document and for clients, by status. */
  responses?: Responses;
>>>>>>> e96ff9a (feat(client): type a client by the routes themselves)
}

/** The handler that a verb gets later, as a decorator, with the types of its route. */
type Decorator<Args, Method extends string, Path extends string, P, R, Responses> = <
  H extends (args: Args) => Returned<HandlerResult<R>>,
>(
  handler: H,
) => H & Routed<Method, Path, H, P, R, Responses>;

/** The result of the form without a handler, or with nothing but one. */
export type Added<H, Method extends string, Path extends string, P, R, Responses> = NoHandler extends H
  ? Decorator<HandlerArgs<P, Path>, Method, Path, P, R, Responses>
  : H & Routed<Method, Path, H>;

/**
 * The verbs of a `Router`, whose outer prefix is not known yet, and those of an `App` that are rare.
 *
 * @typeParam Method - In upper case.
 * @typeParam Prefix - Of the router.
 * @typeParam IsWhole - `true` where no outer prefix can come before the path, so that `Path()` has to be in it.
 */
<<<<<<< HEAD
export interface Verb<
  Prefix extends string = "",
  IsWhole extends boolean = false,
  Context = {},
  Options = {},
  Result extends Returns | undefined = Returns | undefined,
> {
=======
export interface Verb<Method extends string, Prefix extends string = "", IsWhole extends boolean = false> {
>>>>>>> e96ff9a (feat(client): type a client by the routes themselves)
  <
    const Path extends string,
    P extends CheckVerb<P, Path, IsWhole> = {},
    R extends Schema | undefined = undefined,
    Responses extends ResponseDocs = {},
    H extends Handler<FromPath<PathNames<`${Prefix}${Path}`>>> = Handler<FromPath<PathNames<`${Prefix}${Path}`>>>,
  >(
    path: Path & CheckPattern<Path>,
    handler?: H | OptionsBeforeHandler<P, R, Responses>,
  ): Added<H, Method, `${Prefix}${Path}`, P, R, Responses>;
  <
    const Path extends string,
    P extends CheckVerb<P, Path, IsWhole> = {},
    R extends Schema | undefined = undefined,
    Responses extends ResponseDocs = {},
    const Out extends CheckResult<Out, R> = never,
  >(
    path: Path & CheckPattern<Path>,
    options: OptionsBeforeHandler<P, R, Responses>,
    handler: (args: HandlerArgs<P, `${Prefix}${Path}`>, ...none: HandlerTakesOneObject[]) => Out,
  ): RoutedHandler<Method, `${Prefix}${Path}`, P, R, Responses, Out>;
}

/** The verb `route`, of several methods. It has no form without options. */
export interface MultiVerb<Prefix extends string = "", IsWhole extends boolean = false> {
  <
    const Path extends string,
    P extends CheckVerb<P, Path, IsWhole> = {},
    R extends Schema | undefined = undefined,
    Responses extends ResponseDocs = {},
    const Method extends string = "GET",
  >(
    path: Path & CheckPattern<Path>,
    options?: OptionsBeforeHandler<P, R, Responses> & MultiRouteOptions<Method>,
  ): Added<NoHandler, Uppercase<Method>, `${Prefix}${Path}`, P, R, Responses>;
  <
    const Path extends string,
    P extends CheckVerb<P, Path, IsWhole> = {},
    R extends Schema | undefined = undefined,
    Responses extends ResponseDocs = {},
    const Method extends string = "GET",
    const Out extends CheckResult<Out, R> = never,
  >(
    path: Path & CheckPattern<Path>,
    options: OptionsBeforeHandler<P, R, Responses> & MultiRouteOptions<Method>,
    handler: (args: HandlerArgs<P, `${Prefix}${Path}`>, ...none: HandlerTakesOneObject[]) => Out,
  ): RoutedHandler<Uppercase<Method>, `${Prefix}${Path}`, P, R, Responses, Out>;
}

/** The argument of a handler of WebSockets. */
type SocketArgs<P, Path extends string> = HandlerArgs<P, Path> & { ws: WebSocket };

/** The verb `websocket`, whose handlers get the socket beside their parameters, and give no result. */
export interface SocketVerb<Prefix extends string = "", IsWhole extends boolean = false> {
  <
    const Path extends string,
    P extends CheckVerb<P, Path, IsWhole> = {},
    H extends Handler<FromPath<PathNames<`${Prefix}${Path}`>> & { ws: WebSocket }> = Handler<
      FromPath<PathNames<`${Prefix}${Path}`>> & { ws: WebSocket }
    >,
  >(
    path: Path & CheckPattern<Path>,
    handler?: H | OptionsBeforeHandler<P, undefined, ResponseDocs>,
  ): NoHandler extends H
    ? Decorator<SocketArgs<P, `${Prefix}${Path}`>, "WEBSOCKET", `${Prefix}${Path}`, P, undefined, {}>
    : H & Routed<"WEBSOCKET", `${Prefix}${Path}`, H>;
  <const Path extends string, P extends CheckVerb<P, Path, IsWhole> = {}, const Out = never>(
    path: Path & CheckPattern<Path>,
<<<<<<< HEAD
    options: OptionsBeforeHandler<P, R> & Options,
    handler: (
      args: HandlerArgs<P, `${Prefix}${Path}`> & Context,
      ...none: HandlerTakesOneObject[]
    ) => Out | AsyncIterable<Out[never]>,
  ): (args: HandlerArgs<P, `${Prefix}${Path}`> & Context) => Out;
=======
    options: OptionsBeforeHandler<P, undefined, ResponseDocs>,
    handler: (args: SocketArgs<P, `${Prefix}${Path}`>, ...none: HandlerTakesOneObject[]) => Out,
  ): ((args: SocketArgs<P, `${Prefix}${Path}`>) => Out) & Routed<"WEBSOCKET", `${Prefix}${Path}`, Out, P>;
>>>>>>> e96ff9a (feat(client): type a client by the routes themselves)
}

/** A `Path()` of a router may be in the prefix of another one. */
type CheckVerb<P, Path extends string, IsWhole> = IsWhole extends true ? CheckRoute<P, Path> : CheckParams<P>;
