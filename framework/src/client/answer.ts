/** The result of a call, made of what its route returns. @module */
import type { Fault } from "../exceptions.js";
import type { PARAMS } from "../params.js";
import type { Response as TsgiResponse } from "../response.js";
import type { EventSchemas, ROUTE, RouteTypes } from "../router.js";
import type { JSONOf, Received } from "./json.js";

/** The body of a 422: every fault of the request. */
export interface HTTPValidationError {
  detail: Fault[];
}

/** The result of a call: the data of a success, or the error of any other answer. */
export type Answer<Data, Failure> =
  | { data: Data; error?: never; response: Response }
  | { data?: never; error: Failure; response: Response };

/** The answer of a route. Most declare no further responses, which the compiler then does not go through. */
export type AnswerOf<Route> = Route extends {
  readonly [ROUTE]: RouteTypes<string, infer Path, infer P, infer R, infer Docs, infer Out>;
}
  ? [keyof Docs] extends [never]
    ? Answer<DataOf<Out, R>, ErrorOf<Faults<P, Path, Route>>>
    : Answer<
        DataOf<Out, R> | Declared<Docs, Success<keyof Docs>>,
        ErrorOf<Declared<Docs, Exclude<keyof Docs, Success<keyof Docs>>> | Faults<P, Path, Route>>
      >
  : never;

/** The result of a handler, or of its promise, or its items one by one. */
type DataOf<Out, R> = [R] extends [EventSchemas<infer Events>]
  ? AsyncIterable<EventsOf<Events>>
  : Out extends Promise<infer Result>
    ? ResultOf<Result, R>
    : Out extends (...args: never) => infer Result
      ? DataOf<Result, R>
      : Out extends AsyncGenerator<infer Item, unknown, never> | Generator<infer Item, unknown, never>
        ? AsyncIterable<ResultOf<Item, R>>
        : ResultOf<Out, R>;

/** One of the named events of a stream. */
type EventsOf<Events> = {
  [Name in keyof Events]: { event: Name; data: Received<Events[Name]>; id?: string };
}[keyof Events];

/** Without `returns` a value is what the handler gives. A `Response` says nothing of its body, and no result is `null`. */
type ResultOf<Result, R> = [R] extends [undefined]
  ? [Result] extends [TsgiResponse | Response]
    ? unknown
    : [Result] extends [void]
      ? null
      : JSONOf<Result>
  : Received<R>;

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

/** A route without a parameter has no fault. */
type Faults<P, Path, Route> = [keyof P] extends [never]
  ? Path extends `${string}{${string}`
    ? HTTPValidationError
    : Route extends { readonly [PARAMS]: unknown }
      ? HTTPValidationError
      : never
  : HTTPValidationError;

/** Nothing is known of errors that nobody declares. */
type ErrorOf<T> = [T] extends [never] ? unknown : T;
