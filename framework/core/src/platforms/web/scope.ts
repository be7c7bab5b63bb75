/** The scope of a platform's request, and the facts that a platform provides with it. @module */
import type { Address, HTTPScope } from "../../protocol/asgi.js";
import { type ContentHeaders, encodeUTF8, isASCII } from "../../protocol/header-list.js";
import { isAuthority } from "../../protocol/http-grammar.js";
import { createScope } from "../../protocol/scope.js";
import type { ServerContext } from "../../protocol/server-context.js";
import { fromWebHeaders } from "../../http/request/web.js";

/** Facts that a platform provides with a request. */
export interface FetchContext {
  /** The address of the client. */
  client?: Address | null;
  /** Keeps the platform from stopping before a promise has settled, as Cloudflare's `ctx.waitUntil` does. */
  waitUntil?: (promise: Promise<unknown>) => void;
  /** The platform's bindings: `scope.extensions["tsgi.web"].env`. */
  env?: unknown;
}

/** The same, the address of the client as a function if the platform takes long for it: Bun takes 2 to 4 µs. */
export interface FetchFacts extends Omit<FetchContext, "client"> {
  client?: Address | (() => Address | null) | null;
}

const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ["http", 80],
  ["https", 443],
]);

/** The part of a URL before its path, checked. */
interface Origin {
  readonly text: string;
  readonly scheme: string;
  /** `undefined` without a usable `Host`: Bun then provides only the path. */
  readonly authority: string | undefined;
  readonly isValid: boolean;
  readonly server: Address | null;
}

function parseOrigin(text: string): Origin {
  if (text === "") return { text, scheme: "http", authority: undefined, isValid: true, server: null };
  const colon = text.indexOf(":");
  const scheme = text.slice(0, colon);
  const authority = text.slice(colon + "://".length);
  return { text, scheme, authority, isValid: isAuthority(authority), server: addressOf(authority, scheme) };
}

/** The origin of the last request, which most requests of a server share: the checks of one take 500 ns on Bun. */
let lastOrigin = parseOrigin("");

/** The part before the path. */
function originOf(url: string): Origin {
  const { text } = lastOrigin;
  const isSame = url.startsWith(text) && url.charAt(text.length) === "/";
  return isSame ? lastOrigin : (lastOrigin = parseOrigin(url.slice(0, originLength(url))));
}

/** The length of the part before the path. An authority with `?` or `#` would be malformed. */
function originLength(url: string): number {
  const colon = url.startsWith("/") ? -1 : url.indexOf("://");
  if (colon === -1) return 0;
  const slash = url.indexOf("/", colon + "://".length);
  return slash === -1 ? url.length : slash;
}

function withoutFragment(url: string): string {
  const mark = url.indexOf("#");
  return mark === -1 ? url : url.slice(0, mark);
}

/**
 * Creates the scope of a request; `null` if `Host` is malformed, which results in 400 according to RFC 9112 §3.2.
 * Attack: Deno and workerd write `Host: a/admin?` into the URL unchanged, so its path differs from the path of the
 * request.
 */
export function createFetchScope(
  request: globalThis.Request,
  { client = null, env }: FetchFacts,
  context: ServerContext,
): HTTPScope | null {
  const { headers, method } = request;
  const url = withoutFragment(request.url);
  const { text: origin, scheme, authority, isValid, server } = originOf(url);
  const host = headers.get("host");
  if (!isValid || (host !== null && host !== authority && !isAuthority(host))) return null;
  const target = toASCII(url.slice(origin.length)) || "/";
  const head = {
    httpVersion: "1.1",
    method,
    target,
    headers: () => headersOf(headers, host === null ? authority : undefined),
    content: method === "GET" ? undefined : contentOf(headers),
    extensions: { "tsgi.web": { request, env } },
  };
  const isLate = typeof client === "function";
  const scope = createScope(head, { encrypted: scheme === "https", client: isLate ? null : client, server }, context);
  return isLate ? withClient(scope, client) : scope;
}

/** The scope, whose client is read once, on access. */
function withClient(scope: HTTPScope, read: () => Address | null): HTTPScope {
  let client: Address | null | undefined;
  return Object.defineProperty(scope, "client", {
    get: () => (client === undefined ? (client = read()) : client),
    set: (value: Address | null) => {
      client = value;
    },
    enumerable: true,
    configurable: true,
  });
}

/** Read on their own: to read all headers for them took 20 % of a request with a JSON body on Bun. */
function contentOf(headers: Headers): ContentHeaders | undefined {
  const type = headers.get("content-type") ?? undefined;
  if (type !== undefined && !isASCII(type)) return undefined;
  const encoding = headers.get("content-encoding") ?? undefined;
  return { type, length: Number(headers.get("content-length") ?? 0), encoding };
}

/** @param host - The `Host` to add. */
function headersOf(headers: Headers, host: string | undefined): readonly string[] {
  const raw = fromWebHeaders(headers);
  return host === undefined ? raw : ["host", host, ...raw];
}

/**
 * Percent-encodes characters that a platform has decoded, as URL §4.4 does: Deno and workerd return `é` if the target
 * contained its bytes.
 */
function toASCII(text: string): string {
  if (isASCII(text)) return text;
  return text.replaceAll(/[^\0-\x7f]/gu, (char) =>
    Array.from(encodeUTF8(char), (byte) => `%${byte.toString(16).toUpperCase()}`).join(""),
  );
}

function addressOf(host: string, scheme: string): Address {
  const colon = host.lastIndexOf(":");
  const hasPort = colon > host.lastIndexOf("]");
  const name = hasPort ? host.slice(0, colon) : host;
  const port = hasPort ? Number(host.slice(colon + 1)) : (DEFAULT_PORTS.get(scheme) ?? null);
  return [name.startsWith("[") ? name.slice(1, -1) : name, port];
}

type Field = (value: unknown) => value is Record<string, unknown>;
const isObject: Field = (value): value is Record<string, unknown> => typeof value === "object" && value !== null;
const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

/**
 * Reads the arguments of a platform after the request: a {@link FetchContext}, or the arguments of the `fetch` of a
 * module's default export. Cloudflare passes its bindings and an object with `waitUntil`, Bun its server, Deno the
 * address, Netlify an object with `ip` and `waitUntil`.
 */
export function readContext(request: globalThis.Request, second: unknown, third: unknown): FetchFacts {
  if (isObject(third) && typeof third["waitUntil"] === "function") {
    const { waitUntil } = third;
    return { env: second, waitUntil: (promise) => void Reflect.apply(waitUntil, third, [promise]) };
  }
  if (!isObject(second)) return {};
  const { requestIP } = second;
  if (typeof requestIP === "function") {
    return { client: () => clientOf(Reflect.apply(requestIP, second, [request]), "address") };
  }
  if (isObject(second["remoteAddr"])) return { client: clientOf(second["remoteAddr"], "hostname") };
  const { client, ip, waitUntil, env } = second as FetchContext & { ip?: unknown };
  return {
    client: client ?? (isText(ip) ? [ip, null] : null),
    env,
    ...(waitUntil && { waitUntil: (promise) => waitUntil.call(second, promise) }),
  };
}

function clientOf(address: unknown, name: "address" | "hostname"): Address | null {
  if (!isObject(address) || typeof address[name] !== "string") return null;
  return [address[name], typeof address["port"] === "number" ? address["port"] : null];
}
