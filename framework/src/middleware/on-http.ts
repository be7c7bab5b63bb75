import type { ASGIApp, HTTPScope, Receive, Send } from "../asgi.js";
import type { Middleware } from "../chain.js";
import { markHandled } from "../promises.js";

/** What a middleware does with one HTTP request: answers it, or calls the application with what it was given. */
export type HTTPLayer = (app: ASGIApp, scope: HTTPScope, receive: Receive, send: Send) => Promise<void>;

/** A middleware for HTTP alone: the application gets every other scope as it came. */
export function onHTTP(layer: HTTPLayer): Middleware {
  return (app) => (scope, receive, send) =>
    scope.type === "http" ? markHandled(layer(app, scope, receive, send)) : app(scope, receive, send);
}
