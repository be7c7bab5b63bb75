import type { HTTPScope } from "../asgi.js";
import { headerValues } from "../request.js";

/** The host that a request is for, as its `Host` says. */
export interface Host {
  /** In lower case, without a dot at the end; an IPv6 address in its shortest form, in brackets. */
  readonly name: string;
  /** `null` when none is written. */
  readonly port: number | null;
}

/** A DNS name has at most 253 characters; a bracketed IPv6 address and a port are shorter. */
const MAX_LENGTH = 261;

/** RFC 3986 §3.2.2, without the characters that no host on a network has. Linear: nothing in it can match in two ways. */
const HOST = /^(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9_~-]+(?:\.[a-z0-9_~-]+)*)\.?)(?::(\d{0,5}))?$/;

/** Reads `uri-host [":" port]`; `null` when it is none. @see RFC 9110 §7.2 */
export function parseHost(text: string): Host | null {
  if (text.length > MAX_LENGTH) return null;
  const match = HOST.exec(text.toLowerCase());
  if (match === null) return null;
  const [, address, name, digits = ""] = match;
  const port = digits === "" ? null : Number(digits);
  if (port !== null && port > 65_535) return null;
  const host = address === undefined ? name : canonicalAddress(address);
  return host === undefined ? null : { name: host, port };
}

/** Two spellings of one IPv6 address are one host, RFC 5952. */
function canonicalAddress(address: string): string | undefined {
  const url = `http://[${address}]`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

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
