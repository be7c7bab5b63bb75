import type { CheckParams, HandlerTakesOneObject, PathNames } from "../params.js";
import type { Returns, RouteOptions } from "./options.js";
import type { CheckPattern, CheckRoute } from "./route-checks.js";
import type { CheckResult, FromPath, HandlerArgs, Returned } from "./route-types.js";

/** Stands in the place of a handler where there is none, and the verb is a decorator. */
interface NoHandler {
  readonly noHandler: never;
}

/** A handler without options, or none. */
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
}

/**
 * The verbs of a `Router`, whose outer prefix is not known yet, `route` for several methods, and `websocket`.
 *
 * @typeParam Prefix - Of the router.
 * @typeParam IsWhole - `true` where no outer prefix can come before the path, so that `Path()` has to be in it.
 * @typeParam Context - Members of the handler's argument beside params and path.
 * @typeParam Options - Options beside those of every route.
 * @typeParam Result - The types that `returns` can have.
 */
export interface Verb<
  Prefix extends string = "",
  IsWhole extends boolean = false,
  Context = {},
  Options = {},
  Result extends Returns | undefined = Returns | undefined,
> {
  <
    const Path extends string,
    P extends CheckVerb<P, Path, IsWhole> = {},
    R extends Result = Result & undefined,
    H extends HandlerAlone<FromPath<PathNames<`${Prefix}${Path}`>> & Context, Options> = HandlerAlone<
      FromPath<PathNames<`${Prefix}${Path}`>> & Context,
      Options
    >,
  >(
    path: Path & CheckPattern<Path>,
    handler?: H | (OptionsBeforeHandler<P, R> & Options),
  ): NoHandler extends H ? Decorator<HandlerArgs<P, `${Prefix}${Path}`> & Context, R> : H;
  <
    const Path extends string,
    P extends CheckVerb<P, Path, IsWhole> = {},
    R extends Result = Result & undefined,
    const Out extends CheckResult<Out, R> = never,
  >(
    path: Path & CheckPattern<Path>,
    options: OptionsBeforeHandler<P, R> & Options,
    handler: (
      args: HandlerArgs<P, `${Prefix}${Path}`> & Context,
      ...none: HandlerTakesOneObject[]
    ) => Out | AsyncIterable<Out[never]>,
  ): (args: HandlerArgs<P, `${Prefix}${Path}`> & Context) => Out;
}

/** A `Path()` of a router may be in the prefix of another one. */
type CheckVerb<P, Path extends string, IsWhole> = IsWhole extends true ? CheckRoute<P, Path> : CheckParams<P>;
