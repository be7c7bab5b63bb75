/** The types that a registered route carries for a client. @module */
import type { HandlerArgs } from "./route-types.js";

/** The key of a route's types, which are there in types only. */
export declare const ROUTE: unique symbol;

/** The types of a registered route: how it is called, and what it answers. */
export interface RouteTypes<Method extends string, Path extends string, P, R, Responses, Out> {
  readonly method: Method;
  /** With the prefix of its router. */
  readonly path: Path;
  readonly params: P;
  readonly returns: R;
  readonly responses: Responses;
  /** As the handler gives it; the handler itself where a decorator or no options leave its type as it is. */
  readonly result: Out;
}

/** A handler that was given with options, and the types of its route. */
export interface RoutedHandler<Method extends string, Path extends string, P, R, Responses, Out> {
  (args: HandlerArgs<P, Path>): Out;
  readonly [ROUTE]: RouteTypes<Method, Path, P, R, Responses, Out>;
}

/** The types of a route beside those of its handler, which was given without options. */
export interface Routed<Method extends string, Path extends string, H, P = {}, R = undefined, Responses = {}> {
  readonly [ROUTE]: RouteTypes<Method, Path, P, R, Responses, H>;
}
