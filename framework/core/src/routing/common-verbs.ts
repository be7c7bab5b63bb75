/** The types of the verbs of five methods, of an App and of a Router. @module */
import type { FromParams, PathNames } from "../parameters/annotation.js";
import type { HandlerTakesOneObject } from "../parameters/type-errors.js";
import type { ResponseDocs } from "./document-options.js";
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
import type { Added, Handler, OptionsBeforeHandler } from "./verbs.js";

/** The key of the prefix that all paths of an App or a Router have, which is there in types only. */
export declare const PATHS: unique symbol;

/**
 * The prefix of all paths, and whether it is complete: a Router may be included under another prefix, which `Path()` may
 * name. The members do not mention the type parameters, so that a Router with a prefix is assignable to `Router`.
 */
export interface Paths<_Prefix extends string, _IsWhole extends boolean> {
  readonly paths: never;
}

/** An App or a Router, as a verb sees it. */
export interface Owner<Prefix extends string, IsWhole extends boolean> {
  readonly [PATHS]: Paths<Prefix, IsWhole>;
}

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
    IsWhole extends boolean,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path, IsWhole>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    H extends Handler<FromPath<PathNames<`${Prefix}${Path}`>>> = Handler<FromPath<PathNames<`${Prefix}${Path}`>>>,
  >(
    this: Owner<Prefix, IsWhole>,
    path: Path extends Suspicious ? PatternError<Path> : Path,
    handler?: H | OptionsBeforeHandler<P, R, Responses>,
  ): Added<H, "GET", `${Prefix}${Path}`, P, R, Responses>;
  <
    const Path extends string,
    Prefix extends string,
    IsWhole extends boolean,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path, IsWhole>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    const Out extends CheckResult<Out, R> = never,
  >(
    this: Owner<Prefix, IsWhole>,
    path: Path extends Suspicious ? PatternError<Path> : Path,
    options: OptionsBeforeHandler<P, R, Responses>,
    handler: (
      args: PathNames<`${Prefix}${Path}`> extends keyof P ? FromParams<P> : HandlerArgs<P, `${Prefix}${Path}`>,
      ...none: HandlerTakesOneObject[]
    ) => Out | AsyncIterable<Out[never]>,
  ): Routed<"GET", `${Prefix}${Path}`, TypesOf<P, `${Prefix}${Path}`, R, Responses, Out>["types"]>;
}

/** Registers handlers for `POST`, as {@link AppGet} does for `GET`. */
export interface AppPost {
  <
    const Path extends string,
    Prefix extends string,
    IsWhole extends boolean,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path, IsWhole>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    H extends Handler<FromPath<PathNames<`${Prefix}${Path}`>>> = Handler<FromPath<PathNames<`${Prefix}${Path}`>>>,
  >(
    this: Owner<Prefix, IsWhole>,
    path: Path extends Suspicious ? PatternError<Path> : Path,
    handler?: H | OptionsBeforeHandler<P, R, Responses>,
  ): Added<H, "POST", `${Prefix}${Path}`, P, R, Responses>;
  <
    const Path extends string,
    Prefix extends string,
    IsWhole extends boolean,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path, IsWhole>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    const Out extends CheckResult<Out, R> = never,
  >(
    this: Owner<Prefix, IsWhole>,
    path: Path extends Suspicious ? PatternError<Path> : Path,
    options: OptionsBeforeHandler<P, R, Responses>,
    handler: (
      args: PathNames<`${Prefix}${Path}`> extends keyof P ? FromParams<P> : HandlerArgs<P, `${Prefix}${Path}`>,
      ...none: HandlerTakesOneObject[]
    ) => Out | AsyncIterable<Out[never]>,
  ): Routed<"POST", `${Prefix}${Path}`, TypesOf<P, `${Prefix}${Path}`, R, Responses, Out>["types"]>;
}

/** Registers handlers for `PUT`, as {@link AppGet} does for `GET`. */
export interface AppPut {
  <
    const Path extends string,
    Prefix extends string,
    IsWhole extends boolean,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path, IsWhole>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    H extends Handler<FromPath<PathNames<`${Prefix}${Path}`>>> = Handler<FromPath<PathNames<`${Prefix}${Path}`>>>,
  >(
    this: Owner<Prefix, IsWhole>,
    path: Path extends Suspicious ? PatternError<Path> : Path,
    handler?: H | OptionsBeforeHandler<P, R, Responses>,
  ): Added<H, "PUT", `${Prefix}${Path}`, P, R, Responses>;
  <
    const Path extends string,
    Prefix extends string,
    IsWhole extends boolean,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path, IsWhole>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    const Out extends CheckResult<Out, R> = never,
  >(
    this: Owner<Prefix, IsWhole>,
    path: Path extends Suspicious ? PatternError<Path> : Path,
    options: OptionsBeforeHandler<P, R, Responses>,
    handler: (
      args: PathNames<`${Prefix}${Path}`> extends keyof P ? FromParams<P> : HandlerArgs<P, `${Prefix}${Path}`>,
      ...none: HandlerTakesOneObject[]
    ) => Out | AsyncIterable<Out[never]>,
  ): Routed<"PUT", `${Prefix}${Path}`, TypesOf<P, `${Prefix}${Path}`, R, Responses, Out>["types"]>;
}

/** Registers handlers for `PATCH`, as {@link AppGet} does for `GET`. */
export interface AppPatch {
  <
    const Path extends string,
    Prefix extends string,
    IsWhole extends boolean,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path, IsWhole>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    H extends Handler<FromPath<PathNames<`${Prefix}${Path}`>>> = Handler<FromPath<PathNames<`${Prefix}${Path}`>>>,
  >(
    this: Owner<Prefix, IsWhole>,
    path: Path extends Suspicious ? PatternError<Path> : Path,
    handler?: H | OptionsBeforeHandler<P, R, Responses>,
  ): Added<H, "PATCH", `${Prefix}${Path}`, P, R, Responses>;
  <
    const Path extends string,
    Prefix extends string,
    IsWhole extends boolean,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path, IsWhole>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    const Out extends CheckResult<Out, R> = never,
  >(
    this: Owner<Prefix, IsWhole>,
    path: Path extends Suspicious ? PatternError<Path> : Path,
    options: OptionsBeforeHandler<P, R, Responses>,
    handler: (
      args: PathNames<`${Prefix}${Path}`> extends keyof P ? FromParams<P> : HandlerArgs<P, `${Prefix}${Path}`>,
      ...none: HandlerTakesOneObject[]
    ) => Out | AsyncIterable<Out[never]>,
  ): Routed<"PATCH", `${Prefix}${Path}`, TypesOf<P, `${Prefix}${Path}`, R, Responses, Out>["types"]>;
}

/** Registers handlers for `DELETE`, as {@link AppGet} does for `GET`. */
export interface AppDelete {
  <
    const Path extends string,
    Prefix extends string,
    IsWhole extends boolean,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path, IsWhole>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    H extends Handler<FromPath<PathNames<`${Prefix}${Path}`>>> = Handler<FromPath<PathNames<`${Prefix}${Path}`>>>,
  >(
    this: Owner<Prefix, IsWhole>,
    path: Path extends Suspicious ? PatternError<Path> : Path,
    handler?: H | OptionsBeforeHandler<P, R, Responses>,
  ): Added<H, "DELETE", `${Prefix}${Path}`, P, R, Responses>;
  <
    const Path extends string,
    Prefix extends string,
    IsWhole extends boolean,
    P extends (P[keyof P] extends Ordinary ? unknown : CheckRoute<P, Path, IsWhole>) = {},
    R extends MaybeReturns = undefined,
    Responses extends ResponseDocs = {},
    const Out extends CheckResult<Out, R> = never,
  >(
    this: Owner<Prefix, IsWhole>,
    path: Path extends Suspicious ? PatternError<Path> : Path,
    options: OptionsBeforeHandler<P, R, Responses>,
    handler: (
      args: PathNames<`${Prefix}${Path}`> extends keyof P ? FromParams<P> : HandlerArgs<P, `${Prefix}${Path}`>,
      ...none: HandlerTakesOneObject[]
    ) => Out | AsyncIterable<Out[never]>,
  ): Routed<"DELETE", `${Prefix}${Path}`, TypesOf<P, `${Prefix}${Path}`, R, Responses, Out>["types"]>;
}
