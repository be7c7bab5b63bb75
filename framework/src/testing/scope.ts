import type { Address, WebSocketScope } from "../asgi.js";
import { type HeadersInit, ResponseHeaders } from "../response.js";

/** The request of a handshake. */
export interface HandshakeOptions {
  /** The target, percent-encoded, with its query. */
  readonly target: string;
  /** Headers beside those of the handshake itself, which they may replace. */
  readonly headers?: HeadersInit | undefined;
  readonly subprotocols?: readonly string[] | undefined;
  readonly server: Address;
  /** Of the lifespan. */
  readonly state?: Readonly<Record<string, unknown>>;
}

/** Headers with others in the place of those of the same name. */
export function withHeaders(base: HeadersInit, others?: HeadersInit): ResponseHeaders {
  const headers = new ResponseHeaders(base);
  const given = new ResponseHeaders(others);
  for (const [name] of given) headers.delete(name);
  for (const [name, value] of given) headers.append(name, value);
  return headers;
}

/** The decoded path. The application refuses an invalid one, which it reads from `raw_path`. */
function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The scope that a server makes of a handshake. */
export function createWebSocketScope({
  target,
  headers,
  subprotocols = [],
  server,
  state,
}: HandshakeOptions): WebSocketScope {
  const [path = "/", ...query] = target.split("?");
  const own = new ResponseHeaders({
    host: server.join(":"),
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
  });
  if (subprotocols.length > 0) own.set("sec-websocket-protocol", subprotocols.join(", "));
  return {
    type: "websocket",
    asgi: { version: "3.0", spec_version: "2.4" },
    http_version: "1.1",
    scheme: "ws",
    path: decodePath(path),
    raw_path: Buffer.from(path),
    query_string: Buffer.from(query.join("?")),
    root_path: "",
    headers: withHeaders(own, headers).toList(),
    client: [server[0], 0],
    server,
    subprotocols,
    state: { ...state },
    extensions: { "websocket.http.response": {} },
  };
}
