import type { AnswerOf } from "./answer.js";
import type { CallInit, IsOne } from "./request.js";

/**
 * Calls a route of one method by its path: with `params`, `body` and the options of `fetch`. A type parameter with a
 * default is not inferred from the names that the answer is taken apart into, which costs a call 12 instantiations.
 */
export interface Call<Routes> {
  <Path extends keyof Routes & string = never>(
    path: Path,
    ...init: Arguments<Routes[Path], Path>
  ): Promise<AnswerOf<Routes[Path]>>;
}

/**
 * The argument, which may be left out where nothing in it is required. A tuple is not distributed over: else the compiler
 * works the argument out for the union of all routes, which costs each of them 368 instantiations.
 * A path that is wrong leaves the union of all paths: the error is the path's alone, and not the argument's.
 */
type Arguments<Of, At> = [Of, At] extends [infer Route, infer Path extends string]
  ? IsOne<Path> extends true
    ? ArgumentOf<CallInit<Route, Path>>
    : [init?: object]
  : never;

type ArgumentOf<Init> = {} extends Init ? [init?: Init] : [init: Init];
