import type { FromParams, GlobalResponse, PathNames } from "../params.js";
import type { Response } from "../response.js";
import type { Readable, Schema, SchemaInput } from "../schema.js";

/** The names in a pattern that are not among the params: strings. */
export type FromPath<Names extends string> = { [Name in Names]: string };

/**
 * The argument of a handler. A mapped type over `keyof P` alone costs the compiler half of one over
 * `keyof P | PathNames<Path>` (60 instantiations a route against 101), so that the pattern's names come beside it.
 */
export type HandlerArgs<P, Path extends string> =
  PathNames<Path> extends keyof P ? FromParams<P> : FromParams<P> & FromPath<Exclude<PathNames<Path>, keyof P>>;

/**
 * The result of a handler, or of its promise. The verbs infer the actual one as a `const` type, since the literals of
 * an enum are widened to text without, and hold it against this one.
 */
export type HandlerResult<R> = [R] extends [Schema] ? Readable<SchemaInput<R>> | Response : unknown;

/** A generator of results, one by one. */
type Items<O> = AsyncGenerator<O, unknown, undefined> | Generator<O, unknown, undefined>;

/** The forms in which a handler gives its result: at once, later, or item by item. */
export type Returned<O> = O | Promise<O> | Items<O>;

/** Nothing to say of a result that fits `returns`; else the type that it should have. */
export type CheckResult<Out, R> = [Out] extends [Returned<HandlerResult<R>>]
  ? unknown
  : Expected<Out, Readable<SchemaInput<R>>>;

/** The type that a result should have, in the form in which it is given, so that the compiler compares no more. */
type Expected<Out, Fit> =
  Out extends Promise<infer Result>
    ? Promise<Fit | Extract<Result, Response> | GlobalResponse<Result>>
    : Out extends Items<infer Item>
      ? ItemError<Unlike<Item, Fit>>
      : Fit | Extract<Out, Response> | GlobalResponse<Out>;

/** The properties that are missing, or of another type. */
type Unlike<Item, Fit> = {
  [K in keyof Fit]-?: K extends keyof Item
    ? Item[K] extends Fit[K]
      ? never
      : K
    : undefined extends Fit[K]
      ? never
      : K;
}[keyof Fit];

type ItemError<Names> = [Names] extends [never]
  ? "each item that is yielded should be of the type that `returns` says"
  : `in what is yielded, ${Names & string} is missing or of another type than \`returns\` says`;
