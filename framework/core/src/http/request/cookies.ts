/** The `Cookie` header, RFC 6265. @module */
import { createRecord } from "../../protocol/header-list.js";
import { trimOWS } from "../../protocol/http-grammar.js";

/** A cookie's value as `setCookie` wrote it: percent-decoded if that is valid. */
function decodeValue(text: string): string {
  const value = text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
  if (!value.includes("%")) return value;
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/**
 * The pairs of a `Cookie` header, RFC 6265 §4.2, in their order; values as they were sent. Attack: a neighbouring domain
 * cannot set `__Host-session`, but can set U+00A0 and that name.
 */
function* pairsOf(header: string): Iterable<readonly [name: string, text: string]> {
  for (const part of header.split(";")) {
    const equals = part.indexOf("=");
    const name = trimOWS(part.slice(0, Math.max(equals, 0)));
    if (name !== "") yield [name, trimOWS(part.slice(equals + 1))];
  }
}

/**
 * The cookies of a `Cookie` header as a record without prototype. Of a duplicate name, the first is used: a browser
 * sends the one with the longer path first (§5.4).
 */
export function parseCookies(header: string | undefined): Record<string, string> {
  const cookies: Record<string, string> = createRecord();
  for (const [name, text] of pairsOf(header ?? "")) {
    if (!(name in cookies)) cookies[name] = decodeValue(text);
  }
  return cookies;
}

/** Every value of one name, in the order in which they were sent. */
export function cookieValues(header: string | undefined, name: string): string[] {
  const values: string[] = [];
  for (const [key, text] of pairsOf(header ?? "")) {
    if (key === name) values.push(decodeValue(text));
  }
  return values;
}
