/** The scopes of ASGI, made of the head of a request. @module */
import type { Address, HTTPScope, WebSocketScope } from "./asgi.js";
import { type ContentHeaders, HeaderList, headerValue } from "./header-list.js";
import { createBytes, encodeLatin1 } from "./bytes.js";
import { trimOWS } from "./http-grammar.js";
import { DRAINING, type ServerContext } from "./server-context.js";

/** The head of a request, checked. */
export interface ScopeHead {
  /** `"1.0"`, `"1.1"` or `"2"`. */
  readonly httpVersion: string;
  readonly method: string;
  /** Path and query in origin form, percent-encoded: RFC 9112 §3.2.1. */
  readonly target: string;
  /** `[name, value, …]` as received, or a function that returns them when the application asks. */
  readonly headers: readonly string[] | (() => readonly string[]);
  /** The facts about the body in the headers, if the parser has read them. */
  readonly content?: ContentHeaders;
  readonly extensions?: Record<string, unknown>;
}

/** The two ends of a connection. */
export interface Endpoints {
  readonly encrypted: boolean;
  readonly client: Address | null;
  readonly server: Address | null;
}

/** `scope.asgi` of all drivers. By this one object an App knows them: they read more than ASGI asks. */
export const ASGI = Object.freeze({ version: "3.0", spec_version: "2.4" });
const NO_QUERY = createBytes(0);
const NO_SUBPROTOCOLS: readonly string[] = Object.freeze([]);
/** One immutable object for all WebSockets. */
const WEBSOCKET_EXTENSIONS = Object.freeze({
  "websocket.http.response": Object.freeze({}),
  "tsgi.websocket.message_limit": Object.freeze({}),
});

/**
 * Creates the scope of a request: a separate object, which belongs to the request and which the application may change.
 *
 * @param context - The state of the lifespan, of which the scope gets a shallow copy, and the trusted proxies.
 */
export function createScope(
  { httpVersion, method, target, headers, content, extensions = {} }: ScopeHead,
  { encrypted, client, server }: Endpoints,
  { state, proxies, draining }: Pick<ServerContext, "state" | "proxies" | "draining">,
): HTTPScope {
  const mark = target.indexOf("?");
  const rawPath = mark === -1 ? target : target.slice(0, mark);
  const isPlain = !rawPath.includes("%");
  const scope: HTTPScope = {
    type: "http",
    asgi: ASGI,
    http_version: httpVersion,
    method,
    scheme: encrypted ? "https" : "http",
    path: isPlain ? rawPath : decodePath(rawPath),
    raw_path: isPlain ? undefined : encodeLatin1(rawPath),
    query_string: mark === -1 ? NO_QUERY : encodeLatin1(target.slice(mark + 1)),
    root_path: "",
    headers: new HeaderList(headers, content),
    client,
    server,
    state: { ...state },
    extensions,
    app: undefined,
    path_params: undefined,
  };
  if (draining) (scope.state as { [DRAINING]?: true })[DRAINING] = true;
  proxies?.apply(scope);
  return scope;
}

/**
 * The scope of a WebSocket, from the scope of its handshake. Written field by field: an object that is spread from one without
 * one of its fields is a hash table to V8, 300 bytes more for each idle WebSocket.
 */
export function toWebSocketScope(scope: HTTPScope, subprotocols = subprotocolsOf(scope)): WebSocketScope {
  const { asgi, http_version, path, raw_path, query_string, root_path, headers, client, server, state } = scope;
  return {
    type: "websocket",
    asgi,
    http_version,
    scheme: scope.scheme === "https" ? "wss" : "ws",
    path,
    raw_path,
    query_string,
    root_path,
    headers,
    client,
    server,
    subprotocols,
    state,
    extensions: WEBSOCKET_EXTENSIONS,
    app: undefined,
    path_params: undefined,
  };
}

/** The subprotocols that a client offers: RFC 6455 §4.1. */
function subprotocolsOf({ headers = [] }: HTTPScope): readonly string[] {
  return headerValue(headers, "sec-websocket-protocol")?.split(",").map(trimOWS) ?? NO_SUBPROTOCOLS;
}

const looseUTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Percent-decodes a path. Bytes that are not UTF-8 become U+FFFD, as text has no other way to show them; `raw_path` tells
 * the difference.
 */
function decodePath(rawPath: string): string {
  try {
    return decodeURIComponent(rawPath);
  } catch {
    const bytes = rawPath.replaceAll(/%([\da-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    return looseUTF8.decode(encodeLatin1(bytes));
  }
}
