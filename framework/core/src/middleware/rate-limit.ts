/** `rateLimit`: 429 for a client with too many requests in a window of time. @module */
import type { HTTPScope } from "../protocol/asgi.js";
import type { Middleware } from "./chain.js";
import { assertOptions, expecting, FUNCTION, oneOf, type OptionRules, whole } from "../common/options.js";
import { warnOnce } from "../common/logger.js";
import { Request } from "../http/request.js";
import { canonicalAddress } from "../protocol/http-grammar.js";
import { changingHeaders, onHTTP, refuse } from "./layer.js";
import { STORE_UNAVAILABLE, StoreLog, type Count, memoryStore, type Store, STORE } from "./stores.js";

/** `::ffff:192.0.2.1`, which a socket of both families calls an IPv4 client, in the spelling of RFC 5952 §4. */
const MAPPED = /^\[::ffff:([\da-f]+):([\da-f]+)\]$/;

/**
 * The network that one client has: an IPv4 address, the /64 of an IPv6 address. Attack: a client with one IPv6 address has
 * the 2^64 of its network (RFC 6177 §2), and could be counted as another with each request.
 *
 * @example
 * ```ts
 * import { clientNetwork } from "tsgi/middleware";
 *
 * console.log(clientNetwork("192.0.2.7")); // 192.0.2.7
 * ```
 */
export function clientNetwork(host: string): string {
  const address = host.includes(":") ? canonicalAddress(host.split("%")[0] ?? "") : undefined;
  if (address === undefined) return host;
  const mapped = MAPPED.exec(address);
  if (mapped) return mapped.slice(1).flatMap(toBytes).join(".");
  const [front = [], back = []] = address.split("::").map((half) => half.match(/[\da-f]+/g) ?? []);
  const zeros = Array<string>(8 - front.length - back.length).fill("0");
  return `${[...front, ...zeros, ...back].slice(0, 4).join(":")}::/64`;
}

function toBytes(group: string): [number, number] {
  const bits = Number.parseInt(group, 16);
  return [bits >> 8, bits & 255];
}

/** The options of `rateLimit`. */
export interface RateLimitOptions {
  /** The requests that one key has in a window. */
  limit: number;
  /** Seconds from the first request of a window to its end. */
  windowSeconds: number;
  /**
   * The key under which a request is counted. Defaults to the client's address, of IPv6 its /64. A request without an address is
   * not counted.
   */
  key?: (request: Request) => string | Promise<string>;
  /** The store of the counts. Defaults to the memory of this process. */
  store?: Store;
  /**
   * The policy in the headers, and the prefix of the counts in the store: limits with the same name share their counts.
   * Defaults to `"default"`.
   */
  name?: string;
  /** The behavior if the store is unavailable: requests are allowed, or get 503. Defaults to `"allow"`. */
  whenStoreFails?: "allow" | "refuse";
}

/** RFC 9651 §3.3.3: a string of a structured field is printable ASCII; without quotes it needs no escapes. */
const NAME = expecting("letters, digits, - and _", (value) => typeof value === "string" && /^[\w-]+$/.test(value));

const OPTIONS: OptionRules<RateLimitOptions> = {
  limit: whole(1),
  windowSeconds: whole(1),
  key: FUNCTION,
  store: STORE,
  name: NAME,
  whenStoreFails: oneOf("allow", "refuse"),
};

/** Seconds until a window ends. */
const secondsOf = ({ expiresInMs }: Count) => Math.max(1, Math.ceil(expiresInMs / 1_000));

const UNKNOWN =
  "rateLimit() did not count a request, because it has no client address: one client would use up the limit of all others. " +
  "Set the option key, or clientAddressHeader of the server.";

/** The network of the client; `null`, with one warning per process, if its address is unknown. */
function networkOf({ client, app }: HTTPScope): string | null {
  if (client?.[0]) return clientNetwork(client[0]);
  warnOnce(app, UNKNOWN);
  return null;
}

/**
 * Bounds how often one client may ask: 429 with `Retry-After` beyond it. Every response contains the limit and the
 * remaining requests (draft-ietf-httpapi-ratelimit-headers-11). Handshakes of WebSockets are not counted.
 *
 * @throws ConfigurationError for an option that cannot work.
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { rateLimit } from "tsgi/middleware";
 *
 * const app = new App({ middleware: [rateLimit({ limit: 100, windowSeconds: 60 })] });
 * ```
 */
export function rateLimit(options: RateLimitOptions): Middleware {
  assertOptions("rateLimit()", options, OPTIONS);
  const { limit, windowSeconds, key, name = "default", whenStoreFails = "allow", store = memoryStore() } = options;
  for (const option of ["limit", "windowSeconds"] as const) OPTIONS[option]("rateLimit()", option, options[option]);
  const effect =
    whenStoreFails === "allow" ? "requests are allowed without being counted" : "requests get a 503 response";
  const log = new StoreLog({ of: "the rate limit", effect, back: "requests are counted again" });
  const policy = `"${name}";q=${limit};w=${windowSeconds}`;
  const headersOf = (result: Count | null): [string, string][] => {
    const headers: [string, string][] = [["RateLimit-Policy", policy]];
    if (result === null) return headers;
    const left = Math.max(0, limit - result.count);
    return [...headers, ["RateLimit", `"${name}";r=${left};t=${secondsOf(result)}`]];
  };

  /** Counts a request; `null` if the store fails. */
  const count = async (scope: HTTPScope, client: string): Promise<Count | null> => {
    try {
      return await log.watch(scope, store.increment(`rate-limit:${name}:${client}`, windowSeconds));
    } catch {
      return null;
    }
  };

  return onHTTP((app) => async (scope, receive, send) => {
    const client = key ? await key(new Request(scope, receive)) : networkOf(scope);
    const result = client === null ? null : await count(scope, client);
    const headers = headersOf(result);
    if (client !== null && result === null && whenStoreFails === "refuse") {
      return refuse(scope, send, { ...STORE_UNAVAILABLE, headers });
    }
    if (result !== null && result.count > limit) {
      return refuse(scope, send, {
        statusCode: 429,
        detail: "Too Many Requests",
        headers: [...headers, ["Retry-After", String(secondsOf(result))]],
      });
    }
    const add = changingHeaders(send, (changed) => {
      for (const [header, value] of headers) changed.append(header, value);
    });
    await app(scope, receive, add);
  });
}
