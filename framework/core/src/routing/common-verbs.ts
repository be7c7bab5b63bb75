/** The types of the verbs of five methods, of an App and of a Router. @module */
import type { FromParams, PathNames, ResponseDocs } from "../parameters/annotation.js";
import type { Marker } from "../parameters/marker.js";
import type { HandlerTakesOneObject } from "../parameters/type-errors.js";
import type { MaybeReturns } from "./options.js";
import type {
  CheckResult,
  CheckRoute,
  FromPath,
  HandlerArgs,
  Ordinary,
  PatternError,
  Suspicious,
} from "./route-types.js";
import type { Routed, TypesOf } from "./routed.js";
import type { Owner, Surroundings } from "./owner.js";
import type { Added, Handler, OptionsBeforeHandler } from "./verbs.js";

/**
 * Registers handlers for `GET`: `(path, handler)`, `(path, options, handler)`, or `(path, options?)` as a decorator.
 * Each form returns the handler, with the types of the route. No two forms take the same number of arguments, so that
 * the compiler explains the one that was meant. A verb is called as a method: `this` has the prefix.
 *
 * `Out[never]`, which has no inference sites, keeps the literals in the items of an asynchronous generator, such as the
 * name of an event: the compiler widens them unless it expects a `const` type parameter of them.
 *
 * The interfaces of the five methods repeat each other: one with the method as a type parameter makes a route cost
 * TypeScript 5.9 147 instantiations instead of 104. The test for `Ordinary` params before `CheckRoute` saves 4, and the
 * test for names that are all declared before `HandlerArgs` 4.
 */
export interface AppGet {
  <
    const Path extends string,
    Prefix extends string,
    Around extends Surroundings,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path, Around>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    D extends Marker<unknown> = never,
    H extends Handler<FromPath<PathNames<`${Prefix}${Path}`>>> = Handler<FromPath<PathNames<`${Prefix}${Path}`>>>,
  >(
    this: Owner<Prefix, Around>,
    path: Path extends Suspicious ? PatternError<Path> : Path,
    handler?: H | OptionsBeforeHandler<P, R, Responses, D>,
  ): Added<H, "GET", `${Prefix}${Path}`, P, R, Responses, D, Around>;
  <
    const Path extends string,
    Prefix extends string,
    Around extends Surroundings,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path, Around>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    D extends Marker<unknown> = never,
    const Out extends CheckResult<Out, R> = never,
  >(
    this: Owner<Prefix, Around>,
    path: Path extends Suspicious ? PatternError<Path> : Path,
    options: OptionsBeforeHandler<P, R, Responses, D>,
    handler: (
      args: PathNames<`${Prefix}${Path}`> extends keyof P ? FromParams<P> : HandlerArgs<P, `${Prefix}${Path}`>,
      ...none: HandlerTakesOneObject[]
    ) => Out | AsyncIterable<Out[never]>,
  ): Routed<"GET", `${Prefix}${Path}`, TypesOf<P, `${Prefix}${Path}`, R, Responses, Out, D, Around>["types"]>;
}

/** Registers handlers for `POST`, as {@link AppGet} does for `GET`. */
export interface AppPost {
  <
    const Path extends string,
    Prefix extends string,
    Around extends Surroundings,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path, Around>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    D extends Marker<unknown> = never,
    H extends Handler<FromPath<PathNames<`${Prefix}${Path}`>>> = Handler<FromPath<PathNames<`${Prefix}${Path}`>>>,
  >(
    this: Owner<Prefix, Around>,
    path: Path extends Suspicious ? PatternError<Path> : Path,
    handler?: H | OptionsBeforeHandler<P, R, Responses, D>,
  ): Added<H, "POST", `${Prefix}${Path}`, P, R, Responses, D, Around>;
  <
    const Path extends string,
    Prefix extends string,
    Around extends Surroundings,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path, Around>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    D extends Marker<unknown> = never,
    const Out extends CheckResult<Out, R> = never,
  >(
    this: Owner<Prefix, Around>,
    path: Path extends Suspicious ? PatternError<Path> : Path,
    options: OptionsBeforeHandler<P, R, Responses, D>,
    handler: (
      args: PathNames<`${Prefix}${Path}`> extends keyof P ? FromParams<P> : HandlerArgs<P, `${Prefix}${Path}`>,
      ...none: HandlerTakesOneObject[]
    ) => Out | AsyncIterable<Out[never]>,
  ): Routed<"POST", `${Prefix}${Path}`, TypesOf<P, `${Prefix}${Path}`, R, Responses, Out, D, Around>["types"]>;
}

/** Registers handlers for `PUT`, as {@link AppGet} does for `GET`. */
export interface AppPut {
  <
    const Path extends string,
    Prefix extends string,
    Around extends Surroundings,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path, Around>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    D extends Marker<unknown> = never,
    H extends Handler<FromPath<PathNames<`${Prefix}${Path}`>>> = Handler<FromPath<PathNames<`${Prefix}${Path}`>>>,
  >(
    this: Owner<Prefix, Around>,
    path: Path extends Suspicious ? PatternError<Path> : Path,
    handler?: H | OptionsBeforeHandler<P, R, Responses, D>,
  ): Added<H, "PUT", `${Prefix}${Path}`, P, R, Responses, D, Around>;
  <
    const Path extends string,
    Prefix extends string,
    Around extends Surroundings,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path, Around>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    D extends Marker<unknown> = never,
    const Out extends CheckResult<Out, R> = never,
  >(
    this: Owner<Prefix, Around>,
    path: Path extends Suspicious ? PatternError<Path> : Path,
    options: OptionsBeforeHandler<P, R, Responses, D>,
    handler: (
      args: PathNames<`${Prefix}${Path}`> extends keyof P ? FromParams<P> : HandlerArgs<P, `${Prefix}${Path}`>,
      ...none: HandlerTakesOneObject[]
    ) => Out | AsyncIterable<Out[never]>,
  ): Routed<"PUT", `${Prefix}${Path}`, TypesOf<P, `${Prefix}${Path}`, R, Responses, Out, D, Around>["types"]>;
}

/** Registers handlers for `PATCH`, as {@link AppGet} does for `GET`. */
export interface AppPatch {
  <
    const Path extends string,
    Prefix extends string,
    Around extends Surroundings,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path, Around>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    D extends Marker<unknown> = never,
    H extends Handler<FromPath<PathNames<`${Prefix}${Path}`>>> = Handler<FromPath<PathNames<`${Prefix}${Path}`>>>,
  >(
    this: Owner<Prefix, Around>,
    path: Path extends Suspicious ? PatternError<Path> : Path,
    handler?: H | OptionsBeforeHandler<P, R, Responses, D>,
  ): Added<H, "PATCH", `${Prefix}${Path}`, P, R, Responses, D, Around>;
  <
    const Path extends string,
    Prefix extends string,
    Around extends Surroundings,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path, Around>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    D extends Marker<unknown> = never,
    const Out extends CheckResult<Out, R> = never,
  >(
    this: Owner<Prefix, Around>,
    path: Path extends Suspicious ? PatternError<Path> : Path,
    options: OptionsBeforeHandler<P, R, Responses, D>,
    handler: (
      args: PathNames<`${Prefix}${Path}`> extends keyof P ? FromParams<P> : HandlerArgs<P, `${Prefix}${Path}`>,
      ...none: HandlerTakesOneObject[]
    ) => Out | AsyncIterable<Out[never]>,
  ): Routed<"PATCH", `${Prefix}${Path}`, TypesOf<P, `${Prefix}${Path}`, R, Responses, Out, D, Around>["types"]>;
}

/** Registers handlers for `DELETE`, as {@link AppGet} does for `GET`. */
export interface AppDelete {
  <
    const Path extends string,
    Prefix extends string,
    Around extends Surroundings,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path, Around>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    D extends Marker<unknown> = never,
    H extends Handler<FromPath<PathNames<`${Prefix}${Path}`>>> = Handler<FromPath<PathNames<`${Prefix}${Path}`>>>,
  >(
    this: Owner<Prefix, Around>,
    path: Path extends Suspicious ? PatternError<Path> : Path,
    handler?: H | OptionsBeforeHandler<P, R, Responses, D>,
  ): Added<H, "DELETE", `${Prefix}${Path}`, P, R, Responses, D, Around>;
  <
    const Path extends string,
    Prefix extends string,
    Around extends Surroundings,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path, Around>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    D extends Marker<unknown> = never,
    const Out extends CheckResult<Out, R> = never,
  >(
    this: Owner<Prefix, Around>,
    path: Path extends Suspicious ? PatternError<Path> : Path,
    options: OptionsBeforeHandler<P, R, Responses, D>,
    handler: (
      args: PathNames<`${Prefix}${Path}`> extends keyof P ? FromParams<P> : HandlerArgs<P, `${Prefix}${Path}`>,
      ...none: HandlerTakesOneObject[]
    ) => Out | AsyncIterable<Out[never]>,
  ): Routed<"DELETE", `${Prefix}${Path}`, TypesOf<P, `${Prefix}${Path}`, R, Responses, Out, D, Around>["types"]>;
}
