/** The types of the five methods' verbs of an App. @module */
import type { FromParams, HandlerTakesOneObject, PathNames } from "../params.js";
import type { ResponseDocs } from "./document-options.js";
import type { MaybeReturns } from "./options.js";
import type { CheckPattern, CheckRoute, Ordinary } from "./route-checks.js";
import type { CheckResult, FromPath, HandlerArgs } from "./route-types.js";
import type { Routed, TypesOf } from "./routed.js";
import type { Added, Handler, OptionsBeforeHandler } from "./verbs.js";

/**
 * Registers handlers for `GET` on an `App`: `(path, handler)`, `(path, options, handler)`, or `(path, options?)` as a
 * decorator. Each form gives the handler back, with the types of the route. No two forms take the same number of
 * arguments, so that the compiler explains the one that was meant.
 *
 * `Out[never]`, from which nothing is inferred, keeps the literals in what an asynchronous generator yields, such as the
 * name of an event: the compiler widens them unless it expects a `const` type parameter of them.
 *
 * The interfaces of the five methods repeat each other: one with the method as a type parameter makes a route cost
 * TypeScript 5.9 137 instantiations instead of 89. The test for `Ordinary` params before `CheckRoute` saves 4, and the
 * test for names that are all declared before `HandlerArgs` 4.
 */
export interface AppGet {
  <
    const Path extends string,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    H extends Handler<FromPath<PathNames<Path>>> = Handler<FromPath<PathNames<Path>>>,
  >(
    path: CheckPattern<Path>,
    handler?: H | OptionsBeforeHandler<P, R, Responses>,
  ): Added<H, "GET", Path, P, R, Responses>;
  <
    const Path extends string,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    const Out extends CheckResult<Out, R> = never,
  >(
    path: CheckPattern<Path>,
    options: OptionsBeforeHandler<P, R, Responses>,
    handler: (
      args: PathNames<Path> extends keyof P ? FromParams<P> : HandlerArgs<P, Path>,
      ...none: HandlerTakesOneObject[]
    ) => Out | AsyncIterable<Out[never]>,
  ): Routed<"GET", Path, TypesOf<P, Path, R, Responses, Out>["types"]>;
}

/** Registers handlers for `POST` on an `App`, as {@link AppGet} does for `GET`. */
export interface AppPost {
  <
    const Path extends string,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    H extends Handler<FromPath<PathNames<Path>>> = Handler<FromPath<PathNames<Path>>>,
  >(
    path: CheckPattern<Path>,
    handler?: H | OptionsBeforeHandler<P, R, Responses>,
  ): Added<H, "POST", Path, P, R, Responses>;
  <
    const Path extends string,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    const Out extends CheckResult<Out, R> = never,
  >(
    path: CheckPattern<Path>,
    options: OptionsBeforeHandler<P, R, Responses>,
    handler: (
      args: PathNames<Path> extends keyof P ? FromParams<P> : HandlerArgs<P, Path>,
      ...none: HandlerTakesOneObject[]
    ) => Out | AsyncIterable<Out[never]>,
  ): Routed<"POST", Path, TypesOf<P, Path, R, Responses, Out>["types"]>;
}

/** Registers handlers for `PUT` on an `App`, as {@link AppGet} does for `GET`. */
export interface AppPut {
  <
    const Path extends string,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    H extends Handler<FromPath<PathNames<Path>>> = Handler<FromPath<PathNames<Path>>>,
  >(
    path: CheckPattern<Path>,
    handler?: H | OptionsBeforeHandler<P, R, Responses>,
  ): Added<H, "PUT", Path, P, R, Responses>;
  <
    const Path extends string,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    const Out extends CheckResult<Out, R> = never,
  >(
    path: CheckPattern<Path>,
    options: OptionsBeforeHandler<P, R, Responses>,
    handler: (
      args: PathNames<Path> extends keyof P ? FromParams<P> : HandlerArgs<P, Path>,
      ...none: HandlerTakesOneObject[]
    ) => Out | AsyncIterable<Out[never]>,
  ): Routed<"PUT", Path, TypesOf<P, Path, R, Responses, Out>["types"]>;
}

/** Registers handlers for `PATCH` on an `App`, as {@link AppGet} does for `GET`. */
export interface AppPatch {
  <
    const Path extends string,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    H extends Handler<FromPath<PathNames<Path>>> = Handler<FromPath<PathNames<Path>>>,
  >(
    path: CheckPattern<Path>,
    handler?: H | OptionsBeforeHandler<P, R, Responses>,
  ): Added<H, "PATCH", Path, P, R, Responses>;
  <
    const Path extends string,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    const Out extends CheckResult<Out, R> = never,
  >(
    path: CheckPattern<Path>,
    options: OptionsBeforeHandler<P, R, Responses>,
    handler: (
      args: PathNames<Path> extends keyof P ? FromParams<P> : HandlerArgs<P, Path>,
      ...none: HandlerTakesOneObject[]
    ) => Out | AsyncIterable<Out[never]>,
  ): Routed<"PATCH", Path, TypesOf<P, Path, R, Responses, Out>["types"]>;
}

/** Registers handlers for `DELETE` on an `App`, as {@link AppGet} does for `GET`. */
export interface AppDelete {
  <
    const Path extends string,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    H extends Handler<FromPath<PathNames<Path>>> = Handler<FromPath<PathNames<Path>>>,
  >(
    path: CheckPattern<Path>,
    handler?: H | OptionsBeforeHandler<P, R, Responses>,
  ): Added<H, "DELETE", Path, P, R, Responses>;
  <
    const Path extends string,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    const Out extends CheckResult<Out, R> = never,
  >(
    path: CheckPattern<Path>,
    options: OptionsBeforeHandler<P, R, Responses>,
    handler: (
      args: PathNames<Path> extends keyof P ? FromParams<P> : HandlerArgs<P, Path>,
      ...none: HandlerTakesOneObject[]
    ) => Out | AsyncIterable<Out[never]>,
  ): Routed<"DELETE", Path, TypesOf<P, Path, R, Responses, Out>["types"]>;
}
