/** The `uri-host [":" port]` of a `Host` header or of a target. @module */
import { isIPv6 } from "node:net";

/** RFC 3986 §3.2.2: an IP literal, or a name of unreserved, sub-delims and percent-encoded characters; §3.2.3: a port. */
const AUTHORITY = /^(?:\[([0-9A-Fa-f:.]+)\]|(?:[A-Za-z0-9\-._~!$&'()*+,;=]|%[0-9A-Fa-f]{2})+)(?::(\d{0,5}))?$/;

/** Whether the text names a host, as RFC 9112 §3.2 asks of `Host`. An empty host is none (RFC 9110 §4.2.1). */
export function isAuthority(text: string): boolean {
  const match = AUTHORITY.exec(text);
  return match !== null && (match[1] === undefined || isIPv6(match[1])) && Number(match[2] ?? 0) <= 65_535;
}
