/** The types of a route: its handler's arguments and result, and messages for an invalid path. @module */
import type { Annotation, CheckParams, FromParams, Injectable, PathNames } from "../parameters/annotation.js";
import type { Notice } from "../http/response/event-source.js";
import type { Response } from "../http/response/response.js";
import type { Readable, Schema, SchemaInput } from "../schema/schema.js";
import type { DataEvent, EventOf, EventSchemas } from "./options.js";
import type { Marker } from "../parameters/marker.js";

/** The names in a pattern that are not among the params: strings. */
export type FromPath<Names extends string> = { [Name in Names]: string };

/**
 * The argument of a handler. A mapped type over only `keyof P` costs the compiler half of one over `keyof P |
 * PathNames<Path>` (60 instantiations per route against 101), so the pattern's names are added separately.
 */
export type HandlerArgs<P, Path extends string> =
  PathNames<Path> extends keyof P ? FromParams<P> : FromParams<P> & FromPath<Exclude<PathNames<Path>, keyof P>>;

/**
 * The result of a handler, or of its promise. The verbs infer the actual one as a `const` type, since the literals of
 * an enum are widened to text without, and hold it against this one.
 */
export type HandlerResult<R> = [R] extends [Schema]
  ? Readable<SchemaInput<R>> | Sendable
  : [R] extends [EventSchemas]
    ? Fit<R> | Sendable
    : unknown;

/** A response that is sent as it is: tsgi's, or the platform's. */
type Sendable = Response | globalThis.Response;

/** A result, or one item of a stream, as `returns` describes it. */
type Fit<R> = R extends EventSchemas<infer Events> ? EventOf<Events> : Readable<SchemaInput<R>>;

/** A generator of results, one by one. */
type Items<O> = AsyncGenerator<O, unknown, undefined> | Generator<O, unknown, undefined>;

/** The forms in which a handler returns its result: synchronously, later, or item by item. */
type Given<O> = O | Promise<O> | Items<O>;

/** The further forms of a stream: events around the data that `returns` says, or any iterable of named ones. */
type Streamed<R> = [R] extends [EventSchemas]
  ? Promise<AsyncIterable<Fit<R>> | Iterable<Fit<R>>> | Items<Fit<R> | Notice | Response>
  : [R] extends [Schema]
    ? Items<Fit<R> | DataEvent<Fit<R>> | Notice | Response> | Promise<AsyncIterable<Fit<R> | DataEvent<Fit<R>>>>
    : never;

/** Everything that a handler may give for the option `returns`. */
export type Returned<R> = Given<HandlerResult<R>> | Streamed<R>;

/** A type that a conditional does not distribute over. A tuple costs a route 5 instantiations, for the members of an array. */
interface Whole<T> {
  readonly whole: T;
}

/** `unknown` for a result that matches `returns`; otherwise the type that it should have. */
export type CheckResult<Out, R> =
  Whole<Out> extends Whole<Given<HandlerResult<R>>>
    ? unknown
    : Whole<Out> extends Whole<Streamed<R>>
      ? unknown
      : Expected<Out, R>;

/** The type that a result should have, in the form in which it is given, so that the compiler compares no more. */
type Expected<Out, R> =
  Out extends Promise<infer Result>
    ? Promise<Fit<R> | Extract<Result, Sendable>>
    : Out extends Items<infer Item>
      ? Unfit<ItemError<Item, R>>
      : Fit<R> | Extract<Out, Sendable>;

/**
 * A generator is not one of these. The message is in two of its members, because the compiler explains the member of a
 * union that shares most names with the given type.
 */
interface Unfit<Message> {
  readonly next: Message;
  readonly return: Message;
}

/** The message of an item that does not fit. */
type ItemError<Item, R> = [R] extends [EventSchemas<infer Events>]
  ? EventError<Item, Events>
  : [Unlike<Item, Fit<R>>] extends [infer Names]
    ? [Names] extends [never]
      ? "each yielded item should be of the type that `returns` specifies"
      : `in each yielded item, ${Names & string} is missing or of a different type than in \`returns\``
    : never;

/** The properties that are missing, or of another type. */
type Unlike<Item, Wanted> = {
  [K in keyof Wanted]-?: K extends keyof Item
    ? Item[K] extends Wanted[K]
      ? never
      : K
    : undefined extends Wanted[K]
      ? never
      : K;
}[keyof Wanted];

/** The message of an event that \`sse\` does not name, or whose data do not fit. */
type EventError<Item, Events> =
  Item extends EventOf<Events>
    ? never
    : Item extends { readonly event: infer Name extends string }
      ? Name extends keyof Events
        ? `the event \`${Name & string}\` has data, or a field, of a different type than in \`returns\``
        : `\`returns\` names no event \`${Name}\`, which is yielded`
      : "each item that is yielded should be an event that `returns` names: { event, data }";

/** Paths that a route cannot have. A concatenated one has the type of any string, and does not match. */
export type Suspicious = `${Letter | "{" | ":" | "*"}${string}` | `${string}{${string}:${string}`;

type Letter =
  | ("a" | "b" | "c" | "d" | "e" | "f" | "g" | "h" | "i" | "j" | "k" | "l" | "m")
  | ("n" | "o" | "p" | "q" | "r" | "s" | "t" | "u" | "v" | "w" | "x" | "y" | "z");

/** A suspicious path, with a message if it cannot be registered. */
export type PatternError<Path extends string> = Path extends `/${string}`
  ? [Extract<PathNames<Path>, `${string}:${string}`>] extends [never]
    ? Path
    : Path & WriteInstead<"{id}, and params: { id: t.Integer() }">
  : Path & WriteInstead<`/${Path}`>;

/** Of text a message is an interface: two literals together would be `never`. */
interface WriteInstead<Text> {
  readonly writeInstead: Text;
}

/** The params of a route where all are right, and the message of each that is not. `Path()` may be in an outer prefix. */
export type CheckRoute<P, Path extends string, Around> = P[keyof P] extends Ordinary
  ? unknown
  : P[keyof P] extends Annotation
    ? Around extends { readonly isWhole: true }
      ? CheckPath<P, Path>
      : unknown
    : CheckParams<P>;

/** An annotation other than one of `Path()`. */
export type Ordinary = Schema | Injectable | (Marker<unknown> & { readonly in?: undefined });

/** `Path()` under a name that the pattern lacks. */
type CheckPath<P, Path extends string> = {
  [K in keyof P]: P[K] extends { readonly in: "path" }
    ? K extends PathNames<Path>
      ? P[K]
      : `the path ${Path} has no {${K & string}}: write it there, or Query() here`
    : P[K];
};
