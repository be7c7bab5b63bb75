/** The result of a call, built from the response of its route. @module */
import type { Fault } from "../common/exceptions.js";
import type { Response as TsgiResponse } from "../http/response/response.js";
import type { Readable } from "../schema/schema.js";
import type { EventSchemas } from "./options.js";
import type { JSONOf, Received } from "./json-types.js";
import type { RESPONSES } from "../parameters/annotation.js";
import type { CARRIED } from "../parameters/depends.js";
import type { Places } from "./call-arguments.js";

/** The body of a 422: every error of the request. */
export interface HTTPValidationError {
  detail: Fault[];
}

/** The result of a call: the data of a success, or the error of any other response. */
export type CallResult<Data, Failure> =
  | { data: Data; error?: never; response: Response }
  | { data?: never; error: Failure; response: Response };

/** The data of a success, as JSON carries them. */
export type DataOf<Out, R, Docs> = keyof Docs extends never
  ? ReturnedData<Out, R, Returned<R>>
  : ReturnedData<Out, R, Returned<R>> | Declared<Docs, Success<keyof Docs>>;

/**
 * The data that the handler returns. `Data` is the type of `returns`: as a separate type parameter it is computed once
 * for each schema, and in a branch once for each route.
 */
type ReturnedData<Out, R, Data> = undefined extends R
  ? Given<Out>
  : Out extends Generators
    ? R extends EventSchemas
      ? Data
      : AsyncIterable<Data>
    : Data;

type Generators =
  | AsyncGenerator<unknown, unknown, never>
  | Generator<unknown, unknown, never>
  | Promise<AsyncIterable<unknown>>;

/** The data of a schema, or of the events that a stream names. */
type Returned<R> = R extends EventSchemas<infer Events> ? AsyncIterable<EventsOf<Events>> : Received<R>;

/** The result of a handler without `returns`, or of its promise, or its items one by one. */
type Given<Out> =
  Out extends Promise<infer Result>
    ? Value<Result>
    : Out extends AsyncGenerator<infer Item, unknown, never> | Generator<infer Item, unknown, never>
      ? AsyncIterable<Value<Item>>
      : Value<Out>;

/** A value is the result of the handler. A `Response` has no type for its body, and no result is `null`. */
type Value<Result> = [Result] extends [TsgiResponse | Response]
  ? unknown
  : [Result] extends [void]
    ? null
    : Result extends AsyncIterable<infer Item>
      ? AsyncIterable<JSONOf<Item>>
      : JSONOf<Result>;

/** One of the named events of a stream. */
type EventsOf<Events> = {
  [Name in keyof Events]: { event: Name; data: Received<Events[Name]>; id?: string };
}[keyof Events];

/** The bodies that are declared for statuses. */
type Declared<Docs, Status extends keyof Docs> = [Status] extends [never]
  ? never
  : { [S in Status]: BodyOf<Docs[S]> }[Status];

/** The body that a response is declared with. */
export type BodyOf<Doc> = Doc extends { schema: infer Schema } ? Received<Schema> : never;

type Success<Status> = Status extends number
  ? `${Status}` extends `2${string}`
    ? Status
    : never
  : Status extends "2XX"
    ? Status
    : never;

/**
 * The errors of a call: those that the route declares, and the one of an invalid request if the route has parameters
 * and declares no 422. Without either, the type is unknown.
 */
export type ErrorOf<Errors, Request> = [Errors] extends [never]
  ? unknown extends Request
    ? unknown
    : HTTPValidationError
  : Known<
      BodyIn<Errors> | (unknown extends Request ? never : 422 extends StatusOf<Errors> ? never : HTTPValidationError)
    >;

type BodyIn<Errors> = Errors extends unknown ? Errors[keyof Errors] : never;

type Known<T> = [T] extends [never] ? unknown : T;

/** The statuses of a union of errors. */
export type StatusOf<Errors> = Errors extends unknown ? keyof Errors : never;

/** The form of the result of a handler with these data. */
export type FormOf<Out, Data> =
  Out extends Promise<infer Result>
    ? [Result] extends [Readable<Data>]
      ? "promise"
      : "unknown"
    : [Out] extends [Readable<Data>]
      ? "value"
      : "unknown";

/**
 * The bodies of declared errors by status, a union with one member per declaration: to merge them into one object costs a
 * call 100 instantiations.
 *
 * @typeParam A - The annotations of the params.
 * @typeParam Docs - The responses of the route, and of the App or Router on which its verb was called.
 * @typeParam D - The markers in the route's option `dependencies`.
 */
export type ErrorsOf<A, Docs, D> = [D] extends [never]
  ? BodiesOf<Docs | DeclaredIn<A>>
  : Reported<BodiesOf<Docs | DeclaredIn<A> | DeclaredIn<D>>, D>;

/** The responses that dependencies declare, at any depth. */
type DeclaredIn<A> = A extends { readonly [RESPONSES]: infer Docs; readonly [CARRIED]: infer P }
  ? Docs | DeclaredIn<P[keyof P]>
  : never;

/** The bodies of the errors among declared responses, of each declaration by itself. */
type BodiesOf<Docs> = Docs extends unknown
  ? keyof Docs extends never
    ? never
    : { [S in keyof Docs as ErrorStatus<S, Docs[S]>]: BodyOf<Docs[S]> }
  : never;

/** A status from 400 on, a range of such, or any other. A 422 without a body is the error of an invalid request. */
type ErrorStatus<Status, Doc> = Status extends number
  ? `${Status}` extends `${4 | 5}${string}`
    ? Status extends 422
      ? Doc extends { schema: unknown } | { content: unknown }
        ? Status
        : never
      : Status
    : never
  : Extract<Status, "4XX" | "5XX" | "default">;

/** Adds the error of an invalid request, if a marker in `dependencies` reads anything and no 422 is declared. */
type Reported<Errors, D> =
  422 extends StatusOf<Errors>
    ? Errors
    : unknown extends Places<{ dependency: D }, never>
      ? Errors
      : Errors | { 422: HTTPValidationError };

/**
 * Problem details, as an App with the option `problemDetails` sends them.
 *
 * @typeParam Status - Tells the errors of a call apart.
 */
export interface ProblemDetails<Status = number> {
  /** Identifies the kind of problem. Defaults to `about:blank`: the status says it all. */
  type: string;
  title: string;
  status: Status;
  detail?: string;
  /** The path of the request. */
  instance?: string;
}

/** One error of an invalid request, in problem details. */
export interface ValidationProblemIssue {
  /** One sentence for a person. */
  detail: string;
  /** The place in the JSON body, as a JSON Pointer (RFC 6901). */
  pointer?: string;
  /** The name of the parameter or form field. */
  parameter?: string;
  /** The type of the validation error, such as `int_parsing`. */
  code: string;
}

/** The problem of an invalid request. */
export interface ValidationProblem extends ProblemDetails<422> {
  errors: ValidationProblemIssue[];
}

/** The errors of a call. A declared schema describes the extension members. */
export type ProblemOf<Errors, Request> = KnownProblem<
  ProblemsIn<Errors> | (unknown extends Request ? never : 422 extends StatusOf<Errors> ? never : ValidationProblem)
>;

type ProblemsIn<Errors> = Errors extends unknown ? { [S in keyof Errors]: Problem<S, Errors[S]> }[keyof Errors] : never;

type Problem<Status, Members> = [Members] extends [never]
  ? ProblemDetails<NumberOf<Status>>
  : Members & ProblemDetails<NumberOf<Status>>;

type NumberOf<Status> = Status extends number ? Status : number;

type KnownProblem<T> = [T] extends [never] ? ProblemDetails : T;

/**
 * The result of a call of an App with the option `errorFormat` or `validationStatus`.
 *
 * @typeParam Types - Those of the route.
 * @typeParam App - The two options.
 */
export type FormattedResult<Types, App> = Types extends {
  readonly data: infer Data;
  readonly errors: infer Errors;
  readonly request: infer Request;
}
  ? Promise<CallResult<Data, FormattedErrorOf<Errors, Request, App>>>
  : never;

/** Every error has the body of the format, unless it is declared with a schema. */
type FormattedErrorOf<Errors, Request, App> = App extends { readonly errorFormat: { readonly schema: infer Format } }
  ? Received<Format> | Exclude<BodyIn<Errors>, HTTPValidationError>
  : App extends { readonly validationStatus: infer Status }
    ? Known<ErrorWithStatus<Errors, Request, BodyAt<Errors, Status>>>
    : never;

/** A validation error has its usual body, unless its status is declared with a schema. */
type ErrorWithStatus<Errors, Request, Body> = [Body] extends [never]
  ? BodyIn<Errors> | (unknown extends Request ? never : HTTPValidationError)
  : Exclude<BodyIn<Errors>, HTTPValidationError>;

type BodyAt<Errors, Status> = Errors extends unknown ? Errors[keyof Errors & Status] : never;
