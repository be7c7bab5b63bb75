import type { HTTPScope } from "../asgi.js";
import { type Host, parseHost } from "../http-grammar.js";
import { headerValues } from "../request.js";

/** The server's own address, for a request of HTTP/1.0 that names no host; `null` where the server does not say. */
export function ownHost({ headers, server }: HTTPScope): Host | null {
  if (!server || headerValues(headers ?? [], "host").length > 0) return null;
  const [address, port] = server;
  return port === null ? null : parseHost(`${address.includes(":") ? `[${address}]` : address}:${port}`);
}

/** The host of a request; `null` when there is none, or more than one (RFC 9112 §3.2). */
export function hostOf(scope: HTTPScope): Host | null {
  const values = headerValues(scope.headers ?? [], "host");
  return values.length === 1 ? parseHost(values[0] as string) : null;
}
