import type { Address, HTTPScope } from "../asgi.js";
import { createBytes, encodeLatin1, encodeUTF8, HeaderList } from "../datastructures.js";
import { isAuthority } from "../http-grammar.js";
import { fromWebHeaders } from "../request.js";

/** Facts that a platform gives with a request. */
export interface FetchContext {
  /** The address of the client. */
  client?: Address | null;
  /** Keeps the platform from stopping before a promise has settled, as Cloudflare's `ctx.waitUntil` does. */
  waitUntil?: (promise: Promise<unknown>) => void;
  /** The platform's bindings: `scope.extensions["tsgi.web"].env`. */
  env?: unknown;
}

const NO_QUERY = createBytes(0);
const ASGI = Object.freeze({ version: "3.0", spec_version: "2.4" });

/** The parts of a URL: RFC 3986 appendix B, without the fragment. Without a usable `Host`, Bun has the path alone. */
const PARTS = /^(?:([a-z][a-z0-9+.-]*):\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?/i;

const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ["http", 80],
  ["https", 443],
]);

/**
 * Creates the scope of a request; `null` where `Host` is malformed, which RFC 9112 §3.2 answers with 400. Attack: Deno and
 * workerd write `Host: a/admin?` into the URL unchanged, whose path is then another than that of the request.
 */
export function createScope(
  request: globalThis.Request,
  { client = null, env }: FetchContext,
  state: Readonly<Record<string, unknown>>,
): HTTPScope | null {
  const [, scheme = "http", authority, path = "", query = ""] = PARTS.exec(request.url) ?? [];
  const host = request.headers.get("host") ?? undefined;
  if (!isAbsentOrAuthority(host) || !isAbsentOrAuthority(authority)) return null;
  const target = toASCII(path) || "/";
  const scope: HTTPScope = {
    type: "http",
    asgi: ASGI,
    http_version: "1.1",
    method: request.method,
    scheme,
    path: decodePath(target),
    raw_path: encodeLatin1(target),
    query_string: query === "" ? NO_QUERY : encodeLatin1(toASCII(query)),
    root_path: "",
    headers: headersOf(request.headers, authority),
    client,
    server: authority === undefined ? null : addressOf(authority, scheme),
    state: { ...state },
    extensions: { "tsgi.web": { request, env } },
  };
  return scope;
}

function headersOf(headers: Headers, authority: string | undefined): HeaderList {
  const raw = fromWebHeaders(headers);
  if (authority !== undefined && !headers.has("host")) raw.unshift("host", authority);
  return new HeaderList(raw);
}

function isAbsentOrAuthority(text: string | undefined): boolean {
  return text === undefined || isAuthority(text);
}

/** Percent-encodes what a platform has decoded, as URL §4.4 does: Deno and workerd give `é` where the target had its bytes. */
function toASCII(text: string): string {
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

const loose = new TextDecoder("utf-8", { ignoreBOM: true });

/** Percent-decodes a path. Bytes that are not UTF-8 become U+FFFD; `raw_path` tells the difference. */
function decodePath(rawPath: string): string {
  if (!rawPath.includes("%")) return rawPath;
  try {
    return decodeURIComponent(rawPath);
  } catch {
    const bytes = rawPath.replaceAll(/%([\da-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    return loose.decode(encodeLatin1(bytes));
  }
}

type Field = (value: unknown) => value is Record<string, unknown>;
const isObject: Field = (value): value is Record<string, unknown> => typeof value === "object" && value !== null;

/**
 * Reads what a platform passes behind the request: a {@link FetchContext}, or what it gives to the `fetch` of a module's
 * default export. Cloudflare gives its bindings and an object with `waitUntil`, Bun its server, Deno the address.
 */
export function readContext(request: globalThis.Request, second: unknown, third: unknown): FetchContext {
  if (isObject(third) && typeof third["waitUntil"] === "function") {
    const { waitUntil } = third;
    return { env: second, waitUntil: (promise) => void Reflect.apply(waitUntil, third, [promise]) };
  }
  if (!isObject(second)) return {};
  if (typeof second["requestIP"] === "function") {
    return { client: clientOf(Reflect.apply(second["requestIP"], second, [request]), "address") };
  }
  if (isObject(second["remoteAddr"])) return { client: clientOf(second["remoteAddr"], "hostname") };
  const { client, waitUntil, env } = second as FetchContext;
  return { client: client ?? null, env, ...(waitUntil && { waitUntil: (promise) => waitUntil.call(second, promise) }) };
}

function clientOf(address: unknown, name: "address" | "hostname"): Address | null {
  if (!isObject(address) || typeof address[name] !== "string") return null;
  return [address[name], typeof address["port"] === "number" ? address["port"] : null];
}
