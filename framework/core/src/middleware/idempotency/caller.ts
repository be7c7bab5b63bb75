/** The caller of a request with a key: two callers can use the same key. @module */
import type { HTTPScope } from "../../protocol/asgi.js";
import { headerValues } from "../../protocol/header-list.js";
import { decodeLatin1 } from "../../protocol/bytes.js";
import { warnOnce } from "../../common/logger.js";
import { cookieValues } from "../../http/request/cookies.js";
import { parsePairs } from "../../http/request/form.js";

/** A place in which an application expects an API key. */
export interface APIKeyPlace {
  readonly in: "header" | "query" | "cookie";
  readonly name: string;
}

const places = new WeakMap<object, () => readonly APIKeyPlace[]>();

/** Keeps the places of an application's API keys. @param find - Called with the first request that needs them. */
export function keepAPIKeyPlaces(app: object, find: () => readonly APIKeyPlace[]): void {
  let found: readonly APIKeyPlace[] | null = null;
  places.set(app, () => (found ??= find()));
}

/** An empty value does not distinguish two clients: one without credentials sends it. */
const isNotEmpty = (value: string) => value !== "";

/** The API keys of a request, each with its place. */
function apiKeysOf({ headers = [], query_string: query, app }: HTTPScope): readonly (readonly string[])[] {
  const find = typeof app === "function" || typeof app === "object" ? places.get(app as object) : undefined;
  const read = { header: (name: string) => headerValues(headers, name), query: queryValues, cookie: readCookie };
  function queryValues(name: string): readonly string[] {
    return query === undefined ? [] : parsePairs(decodeLatin1(query)).getAll(name);
  }
  function readCookie(name: string): readonly string[] {
    return cookieValues(headerValues(headers, "cookie").join("; "), name);
  }
  return (find?.() ?? []).flatMap((place) => {
    const values = read[place.in](place.name).filter(isNotEmpty);
    return values.length === 0 ? [] : [[`${place.in} ${place.name}`, ...values]];
  });
}

/**
 * The caller, with its kind, so that a cookie cannot have the value of another caller's `Authorization`. Cookies are not added
 * to credentials: one that changes between two attempts would run a payment twice.
 *
 * @returns `null` if the request does not tell who sends it: no address is not one address.
 */
function defaultCaller(scope: HTTPScope): readonly unknown[] | null {
  const { headers = [], client } = scope;
  const credentials = headerValues(headers, "authorization").filter(isNotEmpty);
  const keys = apiKeysOf(scope);
  if (keys.length > 0) return ["authorization", ...credentials, keys];
  if (credentials.length > 0) return ["authorization", ...credentials];
  const cookies = headerValues(headers, "cookie").filter(isNotEmpty);
  if (cookies.length > 0) return ["cookie", ...cookies];
  return client?.[0] ? ["address", client[0]] : null;
}

const UNKNOWN =
  "A request with an idempotency key ran as if it had no key, because its caller is unknown: it has no Authorization, " +
  "API key or cookie, and no client address. Set the option key, or clientAddressHeader of the server.";

/** The caller of a request that has a key, by default; `null`, with one warning per process, if it is unknown. */
export function knownCaller(scope: HTTPScope): readonly unknown[] | null {
  const caller = defaultCaller(scope);
  if (caller === null) warnOnce(scope.app, UNKNOWN);
  return caller;
}
