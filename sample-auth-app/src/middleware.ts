import { randomUUID } from "node:crypto";

import type { ASGIApp, HeaderPair, HTTPScope, Middleware } from "tsgi";

/** Gives each request an id: the logs carry it, and so does the answer. One that the client sends is not trusted. */
export const requestId: Middleware = (app) => async (scope, receive, send) => {
  if (scope.type !== "http") {
    return await app(scope, receive, send);
  }
  const id = randomUUID();
  const state = { ...scope.state, requestId: id };
  return await addHeaders(app, { "x-request-id": id })({ ...scope, state }, receive, send);
};

/** Tells browsers not to guess content types, to stay on https, and what a page may load. */
export const securityHeaders: Middleware = (app) => async (scope, receive, send) =>
  await (scope.type === "http" ? addHeaders(app, securityHeadersOf(scope)) : app)(scope, receive, send);

/** Keeps tokens out of every cache (RFC 6749 §5.1), and the errors beside them. */
export const noStore: Middleware = (app) => addHeaders(app, { "cache-control": "no-store" });

function securityHeadersOf(scope: HTTPScope): Record<string, string> {
  return {
    "x-content-type-options": "nosniff",
    ...(scope.scheme === "https" ? { "strict-transport-security": "max-age=31536000; includeSubDomains" } : {}),
  };
}

/** Adds headers to every HTTP answer of an application. */
function addHeaders(app: ASGIApp, headers: Readonly<Record<string, string>>): ASGIApp {
  const pairs = Object.entries(headers).map(([name, value]): HeaderPair => [Buffer.from(name), Buffer.from(value)]);
  return async (scope, receive, send) =>
    await app(scope, receive, (message) =>
      send(
        message.type === "http.response.start"
          ? { ...message, headers: [...(message.headers ?? []), ...pairs] }
          : message,
      ),
    );
}
