/** Middleware, and the way it wraps an application. @module */
import type { ASGIApp } from "../protocol/asgi.js";
import type { InvalidType } from "../common/messages.js";

/**
 * Wraps an application. Scopes that it does not handle, such as those other than HTTP, are passed on unchanged.
 *
 * @example
 * ```ts
 * import { App, type Middleware } from "tsgi";
 *
 * const timing: Middleware = (app) => async (scope, receive, send) => {
 *   const start = performance.now();
 *   await app(scope, receive, send);
 *   if (scope.type === "http") console.log(scope.method, scope.path, performance.now() - start);
 * };
 * const app = new App({ middleware: [timing] });
 * ```
 */
export type Middleware = (app: ASGIApp) => ASGIApp;

/** No value has this type: `httpMiddleware` makes a middleware of a function of requests. */
interface UseHTTPMiddleware {
  readonly useHttpMiddleware: never;
}

/** A middleware to add: for a function in Express's form, the compiler reports only the result. */
export type AddedMiddleware = (app: ASGIApp, ...none: InvalidType[]) => ASGIApp | UseHTTPMiddleware;

/** Wraps an app in a list of middleware, the last of the list outermost. */
export function wrap(app: ASGIApp, middleware: readonly Middleware[]): ASGIApp {
  return middleware.reduce<ASGIApp>((inner, layer) => layer(inner), app);
}

/** A response that a middleware sends instead of the application, with the body `{"detail": …}`. */
interface DocumentedRefusal {
  readonly description: string;
  /** Descriptions of its headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The effect of a middleware on the operations inside it. */
interface MiddlewareFacts {
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
