import type { Address, WebSocketScope } from "../asgi.js";
import { type HeadersInit, ResponseHeaders } from "../response.js";

/** What a handshake says. */
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

/** The path decoded; one that cannot be is the application's to refuse, which looks at `raw_path`. */
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
  const given = new ResponseHeaders(headers);
  for (const [name] of given) own.delete(name);
  for (const [name, value] of given) own.append(name, value);
  return {
    type: "websocket",
    asgi: { version: "3.0", spec_version: "2.4" },
    http_version: "1.1",
    scheme: "ws",
    path: decodePath(path),
    raw_path: Buffer.from(path),
    query_string: Buffer.from(query.join("?")),
    root_path: "",
    headers: own.toList(),
    client: [server[0], 0],
    server,
    subprotocols,
    state: { ...state },
    extensions: { "websocket.http.response": {} },
  };
}
