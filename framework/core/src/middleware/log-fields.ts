/** Fields of a request that lines of a log have in common. @module */
import type { HTTPScope, WebSocketScope } from "../protocol/asgi.js";
import { headerValue } from "../protocol/header-list.js";
import type { Observed } from "./observation/observed.js";

/** A WebSocket's handshake is a GET (RFC 6455 §4.1). */
export function methodOf(scope: HTTPScope | WebSocketScope): string {
  return scope.type === "http" ? scope.method : "GET";
}

/** The ids of this request, and those that came with it. */
export function idsOf(scope: HTTPScope | WebSocketScope, observed: Observed | null) {
  return {
    requestId: observed?.requestId ?? scope.state?.["requestId"] ?? null,
    traceId: observed?.traceId ?? traceIdOf(scope),
  };
}

/** https://www.w3.org/TR/trace-context/#traceparent-header */
const TRACEPARENT = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/;

function traceIdOf({ headers }: HTTPScope | WebSocketScope): string | null {
  return TRACEPARENT.exec(headerValue(headers ?? [], "traceparent") ?? "")?.[1] ?? null;
}
