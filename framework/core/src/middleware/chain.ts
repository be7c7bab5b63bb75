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
