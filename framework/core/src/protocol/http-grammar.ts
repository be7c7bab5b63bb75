/**
 * The grammar that the fields of HTTP share: RFC 9110 §5.6, and hosts by RFC 3986 §3.2. White space is only SP and
 * HTAB: `trim()` and `\s` also mean U+00A0 and others, which would turn one name into another. Every function is
 * linear.
 *
 * @module
 */

import { expecting } from "../common/options.js";
import type { Address } from "./asgi.js";

/** RFC 9110 §5.6.2 `tchar`, for a class of an expression. */
export const TCHAR = "!#$%&'*+.^_`|~0-9A-Za-z\\-";

const TOKEN = new RegExp(`^[${TCHAR}]+$`);

/** RFC 9110 §5.6.2: the name of a header, a parameter, a cookie, a method, a coding, a subprotocol. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** The option is the name of a header. */
export const HEADER_NAME = expecting("the name of a header", (value) => typeof value === "string" && isToken(value));

/** RFC 9110 §5.5: visible latin-1, SP and HTAB. CR, LF and NUL would end the field and start another. */
const FIELD_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** True if a text can be the value of a header. */
export function isFieldValue(text: string): boolean {
  return FIELD_VALUE.test(text);
}

function isOWS(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** The text without the `OWS` (RFC 9110 §5.6.3) at its ends. */
export function trimOWS(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isOWS(text.charCodeAt(start))) start++;
  while (end > start && isOWS(text.charCodeAt(end - 1))) end--;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

/** The index after a quoted string that begins at `start`; the end of the text if it is not closed. */
function skipQuoted(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const char = text.charAt(index);
    if (char === "\\") index++;
    else if (char === '"') return index + 1;
  }
  return text.length;
}

/** The members of a list (RFC 9110 §5.6.1), without the empty ones. A comma in a quoted string is part of its member. */
export function parseList(text: string): string[] {
  const members: string[] = [];
  let start = 0;
  const take = (end: number): void => {
    const member = trimOWS(text.slice(start, end));
    if (member !== "") members.push(member);
  };
  for (let index = 0; index < text.length;) {
    const char = text.charAt(index);
    if (char === ",") {
      take(index);
      start = index + 1;
    }
    index = char === '"' ? skipQuoted(text, index) : index + 1;
  }
  take(text.length);
  return members;
}

/** RFC 9110 §12.4.2 `weight`, up to its digits. */
const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

/** The members of a list with their weights, RFC 9110 §12.4.2; without those whose weight is malformed. */
export function parseWeighted(text: string): (readonly [member: string, weight: number])[] {
  return parseList(text).flatMap((part) => {
    const [member = "", parameter = "q=1", ...others] = part.split(";").map(trimOWS);
    const weight = others.length > 0 ? undefined : WEIGHT.exec(parameter)?.[1];
    return weight === undefined ? [] : [[member, Number(weight)] as const];
  });
}

/** The media type of a `Content-Type`, in lower case and without parameters: `""` if it is missing. RFC 9110 §8.3.1. */
export function parseMediaType(contentType: string | undefined): string {
  if (contentType === undefined) return "";
  const end = contentType.indexOf(";");
  return trimOWS(end < 0 ? contentType : contentType.slice(0, end)).toLowerCase();
}

const TOKEN_HERE = new RegExp(`[${TCHAR}]+`, "y");

/**
 * A value without quotes, which should be a token. Clients write a boundary (RFC 2046 §5.1.1) such as `===17===` without
 * them. Not a comma: there another field of the same name begins.
 */
const UNQUOTED_HERE = /[!#-+\--:<-[\]-~]+/y;
const BLANKS = /[ \t]*/y;

function indexBehind(pattern: RegExp, text: string, index: number): number {
  pattern.lastIndex = index;
  return pattern.test(text) ? pattern.lastIndex : index;
}

/** Tells if a parameter ends here: another follows, or the end. */
function endsAt(text: string, index: number): boolean {
  const behind = indexBehind(BLANKS, text, index);
  return behind === text.length || text.charAt(behind) === ";";
}

/** A value that ends before `end`. */
interface Value {
  readonly text: string;
  readonly end: number;
}

/**
 * The text between the quotes of which the first is at `start`; `null` without a second. Browsers write a backslash
 * as it is (WHATWG HTML, multipart form data); older clients put one before a quote that does not end the value.
 */
function parseQuoted(text: string, start: number): Value | null {
  let value = "";
  for (let index = start + 1; index < text.length; index++) {
    const char = text.charAt(index);
    if (char === '"') return { text: value, end: index + 1 };
    const isEscape = char === "\\" && text.charAt(index + 1) === '"' && !endsAt(text, index + 2);
    if (isEscape) index++;
    value += isEscape ? '"' : char;
  }
  return null;
}

function parseValue(text: string, start: number): Value | null {
  if (text.charAt(start) === '"') return parseQuoted(text, start);
  const end = indexBehind(UNQUOTED_HERE, text, start);
  return end === start ? null : { text: text.slice(start, end), end };
}

/**
 * The parameters behind a field's first `;`, their names in lower case: `OWS ";" OWS [ name "=" value ]`, without a blank
 * around the equals sign.
 *
 * @returns `null` if they are malformed, or a name is repeated: two readers could use different values.
 * @see RFC 9110 §5.6.6
 */
export function parseParameters(text: string): ReadonlyMap<string, string> | null {
  const parameters = new Map<string, string>();
  const first = text.indexOf(";");
  let index = first < 0 ? text.length : first;
  for (;;) {
    index = indexBehind(BLANKS, text, index);
    if (index === text.length) return parameters;
    if (text.charAt(index) !== ";") return null;
    index = indexBehind(BLANKS, text, index + 1);
    if (index === text.length || text.charAt(index) === ";") continue; // an empty parameter
    const equals = indexBehind(TOKEN_HERE, text, index);
    const name = text.slice(index, equals).toLowerCase();
    const value = text.charAt(equals) === "=" ? parseValue(text, equals + 1) : null;
    if (name === "" || value === null || parameters.has(name)) return null;
    parameters.set(name, value.text);
    index = value.end;
  }
}

/** A host on a network, as `Host` names it. */
export interface Host {
  /** In lower case, without a dot at the end; an IPv6 address in its shortest form, in brackets. */
  readonly name: string;
  /** `null` if it is omitted. */
  readonly port: number | null;
}

/** A DNS name has at most 253 characters; a bracketed IPv6 address and a port are shorter. */
const MAX_HOST_LENGTH = 261;

/** RFC 3986 §3.2.2, without the characters that no host on a network has. No part of it can match in two ways. */
const HOST = /^(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9_~-]+(?:\.[a-z0-9_~-]+)*)\.?)(?::(\d{0,5}))?$/;

/** Reads `uri-host [":" port]`; `null` if it is invalid. @see RFC 9110 §7.2 */
export function parseHost(text: string): Host | null {
  if (text.length > MAX_HOST_LENGTH) return null;
  const match = HOST.exec(text.toLowerCase());
  if (match === null) return null;
  const [, address, name, digits = ""] = match;
  const port = digits === "" ? null : Number(digits);
  if (port !== null && port > 65_535) return null;
  const host = address === undefined ? name : canonicalAddress(address);
  return host === undefined ? null : { name: host, port };
}

/** Returns whether a value is an origin in the form in which browsers send it: RFC 6454 §6.2, in lower case. */
export function isOrigin(value: unknown): value is string {
  const match = typeof value === "string" ? /^([a-z][a-z0-9+.-]*):\/\/(.*)$/.exec(value) : null;
  if (match === null) return false;
  const [origin, scheme = "", host = ""] = match;
  if (parseHost(host) === null) return false;
  const isWeb = scheme === "http" || scheme === "https";
  return !isWeb || (URL.canParse(origin) && new URL(origin).origin === origin);
}

/** Two spellings of one IPv6 address are one host, RFC 5952; `undefined` if it is invalid. */
export function canonicalAddress(address: string): string | undefined {
  const url = `http://[${address}]`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;

/** An address of IPv4 in four decimal numbers. */
export function isIPv4(text: string): boolean {
  return IPV4.test(text);
}

/** The parser of the platform gets only characters of an address: it takes a minute for some hosts. */
export function isIPv6(text: string): boolean {
  return /^[0-9a-f:.]{2,45}$/i.test(text) && canonicalAddress(text) !== undefined;
}

/**
 * Reads `203.0.113.7`, `203.0.113.7:4711`, `2001:db8::1` or `[2001:db8::1]:4711`, the forms in which proxies write an
 * address; `null` for anything else.
 */
export function parseAddress(text: string): Address | null {
  if (isIPv6(text)) return [text, null];
  const [, inBrackets = "", plain = "", port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (!isIPv6(inBrackets) && !isIPv4(plain)) return null;
  return [inBrackets || plain, port === undefined ? null : Number(port)];
}

/** RFC 3986 §3.2.2: an IP literal, or a name of unreserved, sub-delims and percent-encoded characters; §3.2.3: a port. */
const AUTHORITY = /^(?:\[([0-9A-Fa-f:.]+)\]|(?:[A-Za-z0-9\-._~!$&'()*+,;=]|%[0-9A-Fa-f]{2})+)(?::(\d{0,5}))?$/;

/**
 * Tells if the text is a `uri-host [":" port]`, as RFC 9112 §3.2 requires of `Host`, even if `parseHost` does not
 * accept it as a host on a network. An empty host is invalid (RFC 9110 §4.2.1).
 */
export function isAuthority(text: string): boolean {
  const match = AUTHORITY.exec(text);
  if (match === null || Number(match[2] ?? 0) > 65_535) return false;
  return match[1] === undefined || canonicalAddress(match[1]) !== undefined;
}

/** Accepts the host of a request. `defaultPort` is the port of its scheme. */
export type HostTest = (host: Host, defaultPort: number) => boolean;

/**
 * Compiles an entry of a list of hosts: a name, all below a name (`"*.example.com"`), an address, each on any port
 * unless one is written; `"*"` for any host. `null` for a value that is not a host.
 */
export function compileHost(entry: unknown): HostTest | null {
  if (entry === "*") return () => true;
  const text = typeof entry === "string" ? entry : "";
  const isWildcard = text.startsWith("*.");
  const host = parseHost(isWildcard ? text.slice(2) : text);
  if (host === null || (isWildcard && host.name.startsWith("["))) return null;
  const { name, port } = host;
  return (given, defaultPort) =>
    (isWildcard ? given.name.endsWith(`.${name}`) : given.name === name) &&
    (port === null || (given.port ?? defaultPort) === port);
}
