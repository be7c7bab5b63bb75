/** The type of a client's method: a call of a route by its path. @module */
import type { FormattedResult, ROUTE, ROUTE_RESULT, ROUTE_ARGUMENTS, ROUTE_PROBLEM } from "tsgi/internals";

/**
 * Calls a route of one method by its path: with `params`, `body` and the options of `fetch`. Without the default of
 * `Path`, the first call computes the responses of all routes, at 34 instantiations each.
 *
 * @typeParam Key - The key of the result.
 */
export interface Call<Routes, Key extends typeof ROUTE_RESULT | typeof ROUTE_PROBLEM = typeof ROUTE_RESULT> {
  <Path extends keyof Routes & string = never>(
    path: Path,
    ...init: Arguments<Routes[Path][keyof Routes[Path] & typeof ROUTE_ARGUMENTS]>
  ): Routes[Path][keyof Routes[Path] & Key];
}

/**
 * The same for an App with the option `errorFormat` or `validationStatus`.
 *
 * @typeParam App - The two options.
 */
export interface FormattedCall<Routes, App> {
  <Path extends keyof Routes & string = never>(
    path: Path,
    ...init: Arguments<Routes[Path][keyof Routes[Path] & typeof ROUTE_ARGUMENTS]>
  ): FormattedResult<Routes[Path][keyof Routes[Path] & typeof ROUTE], App>;
}

/**
 * The arguments as a list. A tuple is not distributed over, and the inferred type has its own constraint: otherwise the
 * first call computes the arguments of all routes, at 39 instantiations each.
 */
type Arguments<T> = [T] extends [infer List extends unknown[]] ? List : [];
