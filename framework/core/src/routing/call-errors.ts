/** The declared errors of a route, of its App or Router, and of its dependencies. @module */
import type { RESPONSES } from "../parameters/annotation.js";
import type { CARRIED } from "../parameters/depends.js";
import type { BodyOf, HTTPValidationError, StatusOf } from "./call-answer.js";
import type { Places } from "./call-arguments.js";

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
