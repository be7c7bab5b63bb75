/** Attributes of spans and metrics, by OpenTelemetry's semantic conventions. @module */
import type { Attributes } from "@opentelemetry/api";
import type { HTTPScope, WebSocketScope } from "tsgi";
import { decodeLatin1 } from "tsgi/internals";

type Scope = HTTPScope | WebSocketScope;

/** The methods that the conventions know. Others are `_OTHER`: a client can make up as many as it likes. */
const METHODS: ReadonlySet<string> = new Set("GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH".split(" "));

/** The method; a WebSocket's handshake is a GET (RFC 6455 §4.1). */
export function methodOf(scope: Scope): string {
  if (scope.type === "websocket") return "GET";
  return METHODS.has(scope.method) ? scope.method : "_OTHER";
}

/** The attributes that the metric and the span have in common. */
export function commonAttributes(scope: Scope): Attributes {
  const attributes: Attributes = {
    "http.request.method": methodOf(scope),
    "url.scheme": scope.scheme === "https" || scope.scheme === "wss" ? "https" : "http",
  };
  if (scope.http_version !== undefined) attributes["network.protocol.version"] = scope.http_version;
  return attributes;
}

/** The attributes of a server span, without a header, a cookie, the query or the body. */
export function spanAttributes(scope: Scope): Attributes {
  const { client, server, raw_path, path } = scope;
  const attributes = commonAttributes(scope);
  // A canonical path is shorter than the one that was received, or the same.
  attributes["url.path"] = raw_path === undefined || raw_path.length === path.length ? path : decodeLatin1(raw_path);
  if (attributes["http.request.method"] === "_OTHER" && scope.type === "http") {
    attributes["http.request.method_original"] = scope.method;
  }
  if (client) attributes["client.address"] = client[0];
  if (server) {
    attributes["server.address"] = server[0];
    if (server[1] !== null) attributes["server.port"] = server[1];
  }
  return attributes;
}

/** The value of `error.type`: the class, of which a program has a limited number. */
export function errorType(error: unknown): string {
  return error instanceof Error ? error.constructor.name || error.name : typeof error;
}
