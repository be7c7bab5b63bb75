/** Facts that a middleware states about itself for the OpenAPI document. @module */
import type { Middleware } from "./chain.js";

/** A response that a middleware sends instead of the application, with the body `{"detail": …}`. */
interface DocumentedRefusal {
  readonly description: string;
  /** Descriptions of its headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The effect of a middleware on the operations inside it. */
export interface MiddlewareFacts {
  /** Returns whether a method is affected. */
  readonly affects: (method: string) => boolean;
  readonly refusals: Readonly<Record<number, DocumentedRefusal>>;
  /** An optional request header. */
  readonly header?: { readonly name: string; readonly description: string; readonly maxLength: number };
}

const facts = new WeakMap<Middleware, MiddlewareFacts>();

/** Attaches facts to a middleware. */
export function documented(middleware: Middleware, stated: MiddlewareFacts): Middleware {
  facts.set(middleware, stated);
  return middleware;
}

/** The facts of the middleware around a route that affect its method. */
export function factsOf(middleware: readonly Middleware[], method: string): MiddlewareFacts[] {
  return middleware.flatMap((layer) => {
    const stated = facts.get(layer);
    return stated?.affects(method) ? [stated] : [];
  });
}
