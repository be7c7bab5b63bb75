/** The errors of a call to an App with problem details. @module @see RFC 9457 */
import type { StatusOf } from "./call-answer.js";

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
export type ProblemOf<Errors, Request> = Known<
  Declared<Errors> | (unknown extends Request ? never : 422 extends StatusOf<Errors> ? never : ValidationProblem)
>;

type Declared<Errors> = Errors extends unknown ? { [S in keyof Errors]: Problem<S, Errors[S]> }[keyof Errors] : never;

type Problem<Status, Members> = [Members] extends [never]
  ? ProblemDetails<NumberOf<Status>>
  : Members & ProblemDetails<NumberOf<Status>>;

type NumberOf<Status> = Status extends number ? Status : number;

type Known<T> = [T] extends [never] ? ProblemDetails : T;
