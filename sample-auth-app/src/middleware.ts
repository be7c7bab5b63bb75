import { randomUUID } from "node:crypto";

import type { ASGIApp, HeaderPair, HTTPScope, Middleware } from "tsgi";

/** Gives each request an id: the logs carry it, and so does the answer. One that the client sends is not trusted. */
export const requestId: Middleware = (app) => (scope, receive, send) => {
  if (scope.type !== "http") {
    return app(scope, receive, send);
  }
  const id = randomUUID();
  const state = { ...scope.state, requestId: id };
  return withHeaders(app, { "x-request-id": id })({ ...scope, state }, receive, send);
};

/** Tells browsers not to guess content types, and to stay on https where they are there. */
export const securityHeaders: Middleware = (app) => (scope, receive, send) =>
  (scope.type === "http" ? withHeaders(app, securityHeadersOf(scope)) : app)(scope, receive, send);

/** Keeps tokens out of every cache (RFC 6749 §5.1), and the errors beside them. */
export const noStore: Middleware = (app) => withHeaders(app, { "cache-control": "no-store" });

function securityHeadersOf(scope: HTTPScope): Record<string, string> {
  const headers = { "x-content-type-options": "nosniff" };
  return scope.scheme === "https"
    ? { ...headers, "strict-transport-security": "max-age=31536000; includeSubDomains" }
    : headers;
}

/** The application with headers set on each of its answers, in the place of those of the same name. */
function withHeaders(app: ASGIApp, headers: Readonly<Record<string, string>>): ASGIApp {
  const pairs = Object.entries(headers).map(([name, value]): HeaderPair => [Buffer.from(name), Buffer.from(value)]);
  const isOther = ([name]: HeaderPair): boolean => !Object.hasOwn(headers, Buffer.from(name).toString("latin1"));
  return (scope, receive, send) =>
    app(scope, receive, (message) =>
      send(
        message.type === "http.response.start"
          ? { ...message, headers: [...[...(message.headers ?? [])].filter(isOther), ...pairs] }
          : message,
      ),
    );
}
