/** The scope of a platform's request, and the facts that a platform provides with it. @module */
import type { Address, HTTPScope } from "../../protocol/asgi.js";
import { encodeUTF8, HeaderList, isASCII } from "../../protocol/header-list.js";
import { isBun } from "../../common/runtime.js";
import { isAuthority } from "../../protocol/http-grammar.js";
import { createScope } from "../../protocol/scope.js";
import type { ServerContext } from "../../protocol/server-context.js";
import { fromWebHeaders, valueFromWeb } from "../../http/request/web.js";

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

/** The owner of a request whose application finds that `Host` is malformed. */
interface HostRejecter {
  /** Responds with 400, and throws, if no response has begun. */
  rejectHost(): void;
}

const NOT_READ: readonly string[] = Object.freeze([]);

/**
 * The headers of a platform's request, read when the application reads them: the first access takes 3.5 of 25 µs on Bun and
 * Deno. `Host` is checked with its first access.
 */
class FetchHeaders extends HeaderList {
  readonly #request: globalThis.Request;
  readonly #authority: string | undefined;
  readonly #rejecter: HostRejecter;
  #raw: readonly string[] | null = null;

  /** @param authority - The `Host` of a request without this header. */
  constructor(request: globalThis.Request, authority: string | undefined, rejecter: HostRejecter) {
    super(NOT_READ);
    this.#request = request;
    this.#authority = authority;
    this.#rejecter = rejecter;
  }

  override get raw(): readonly string[] {
    return (this.#raw ??= this.#read());
  }

  /** One header at a time, because most middleware reads one. */
  override valuesOf(name: string): string[] {
    if (this.#raw !== null || name === "host") return super.valuesOf(name);
    const value = this.#request.headers.get(name);
    return value === null ? [] : [valueFromWeb(value)];
  }

  #read(): readonly string[] {
    const { headers } = this.#request;
    const host = headers.get("host");
    if (!isHostValid(host, this.#authority)) this.#rejecter.rejectHost();
    const raw = fromWebHeaders(headers);
    return host !== null || this.#authority === undefined ? raw : ["host", this.#authority, ...raw];
  }
}

function isHostValid(host: string | null, authority: string | undefined): boolean {
  return host === null || host === authority || isAuthority(host);
}

/**
 * Returns whether a URL shows that `Host` has not changed its path. Attack: Deno and workerd write `Host: a/admin?` into the URL
 * unchanged, so its path differs from the path of the request. The path of a request begins with a slash, so if the URL has one
 * slash after the authority, it is that one, unless a `#` hides others. Bun writes only a valid `Host` into it.
 */
function isPathCertain(url: string, origin: string): boolean {
  return !url.includes("#") && (isBun ? origin !== "" : url.indexOf("/", origin.length + 1) === -1);
}

/** Creates the scope of a request; `null` if `Host` is malformed, which results in 400 according to RFC 9112 §3.2. */
export function createFetchScope(
  request: globalThis.Request,
  { client = null, env }: FetchFacts,
  context: ServerContext,
  rejecter: HostRejecter,
): HTTPScope | null {
  const { method, url } = request;
  const { text: origin, scheme, authority, isValid, server } = originOf(url);
  if (!isValid || !(isPathCertain(url, origin) || isHostValid(request.headers.get("host"), authority))) return null;
  const target = toASCII(withoutFragment(url).slice(origin.length)) || "/";
  const headers = new FetchHeaders(request, authority, rejecter);
  const head = { httpVersion: "1.1", method, target, headers, extensions: { "tsgi.web": { request, env } } };
  const endpoints = { encrypted: scheme === "https", client: typeof client === "function" ? null : client, server };
  const scope = createScope(head, endpoints, context);
  return process.env["TSGI_PLATFORM"] === "web" || typeof client !== "function" ? scope : withClient(scope, client);
}

/** Under this key, a scope has the function that reads its client. */
const READ_CLIENT: unique symbol = Symbol("tsgi.readClient");

interface LateScope extends HTTPScope {
  [READ_CLIENT]?: () => Address | null;
}

/** The client of a scope, read once, on access. One getter for all scopes: with new functions, each would have its own shape. */
const LATE_CLIENT = {
  get(this: LateScope): Address | null {
    return (this.client = this[READ_CLIENT]?.() ?? null);
  },
  set(this: LateScope, value: Address | null): void {
    Object.defineProperty(this, "client", { value, writable: true, enumerable: true, configurable: true });
  },
  enumerable: true,
  configurable: true,
} as const;

function withClient(scope: LateScope, read: () => Address | null): HTTPScope {
  scope[READ_CLIENT] = read;
  return Object.defineProperty(scope, "client", LATE_CLIENT);
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
  const own = process.env["TSGI_PLATFORM"] === "web" ? undefined : clientOfServer(request, second);
  if (own !== undefined) return { client: own };
  const { client, ip, waitUntil, env } = second as FetchContext & { ip?: unknown };
  return {
    client: client ?? (isText(ip) ? [ip, null] : null),
    env,
    ...(waitUntil && { waitUntil: (promise) => waitUntil.call(second, promise) }),
  };
}

/** The client of the servers of Bun and Deno; `undefined` for another platform. A bundle for the web is not for them. */
function clientOfServer(request: globalThis.Request, second: Record<string, unknown>): FetchFacts["client"] {
  const { requestIP } = second;
  if (typeof requestIP === "function") {
    return () => clientOf(Reflect.apply(requestIP, second, [request]), "address");
  }
  const { remoteAddr } = second; // read once: Deno takes 1.2 µs each time
  return isObject(remoteAddr) ? clientOf(remoteAddr, "hostname") : undefined;
}

function clientOf(address: unknown, name: "address" | "hostname"): Address | null {
  if (!isObject(address) || typeof address[name] !== "string") return null;
  return [address[name], typeof address["port"] === "number" ? address["port"] : null];
}
