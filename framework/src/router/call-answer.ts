/** The result of a call, made of what its route returns. @module */
import type { Fault } from "../exceptions.js";
import type { Response as TsgiResponse } from "../response.js";
import type { EventSchemas } from "./event-schemas.js";
import type { JSONOf, Received } from "./json-types.js";

/** The body of a 422: every fault of the request. */
export interface HTTPValidationError {
  detail: Fault[];
}

/** The result of a call: the data of a success, or the error of any other answer. */
export type Answer<Data, Failure> =
  | { data: Data; error?: never; response: Response }
  | { data?: never; error: Failure; response: Response };

/** The answer of a route. Most declare no further responses, which the compiler then does not go through. */
export type AnswerOf<P, Path, R, Docs, Out> = keyof Docs extends never
  ? Answer<DataOf<Out, R, Returned<R>>, ErrorOf<Faults<P, Path>>>
  : Answer<
      DataOf<Out, R, Returned<R>> | Declared<Docs, Success<keyof Docs>>,
      ErrorOf<
        Declared<Docs, Exclude<keyof Docs, Success<keyof Docs>>> | (Docs extends Invalid ? never : Faults<P, Path>)
      >
    >;

/**
 * The data of a success. `Data` is that of `returns`: in its own type parameter the compiler works it out once for each
 * schema, and in a branch once for each route.
 */
type DataOf<Out, R, Data> = undefined extends R
  ? Given<Out>
  : Out extends Generators
    ? R extends EventSchemas
      ? Data
      : AsyncIterable<Data>
    : Data;

type Generators = AsyncGenerator<unknown, unknown, never> | Generator<unknown, unknown, never>;

/** The data of a schema, or of the events that a stream names. */
type Returned<R> = R extends EventSchemas<infer Events> ? AsyncIterable<EventsOf<Events>> : Received<R>;

/** The result of a handler without `returns`, or of its promise, or its items one by one. */
type Given<Out> =
  Out extends Promise<infer Result>
    ? Value<Result>
    : Out extends AsyncGenerator<infer Item, unknown, never> | Generator<infer Item, unknown, never>
      ? AsyncIterable<Value<Item>>
      : Value<Out>;

/** A value is what the handler gives. A `Response` says nothing of its body, and no result is `null`. */
type Value<Result> = [Result] extends [TsgiResponse | Response]
  ? unknown
  : [Result] extends [void]
    ? null
    : JSONOf<Result>;

/** One of the named events of a stream. */
type EventsOf<Events> = {
  [Name in keyof Events]: { event: Name; data: Received<Events[Name]>; id?: string };
}[keyof Events];

/** The bodies that are declared for statuses. */
type Declared<Docs, Status extends keyof Docs> = [Status] extends [never]
  ? never
  : { [S in Status]: Docs[S] extends { schema: infer Schema } ? Received<Schema> : never }[Status];

type Success<Status> = Status extends number
  ? `${Status}` extends `2${string}`
    ? Status
    : never
  : Status extends "2XX"
    ? Status
    : never;

/** A route that declares the body of its 422 sends no other. */
interface Invalid {
  readonly 422: { readonly schema: unknown } | { readonly content: unknown };
}

/** A route without a parameter has no fault. */
type Faults<P, Path> = keyof P extends never
  ? Path extends `${string}{${string}`
    ? HTTPValidationError
    : never
  : HTTPValidationError;

/** Nothing is known of errors that nobody declares. */
type ErrorOf<T> = [T] extends [never] ? unknown : T;
