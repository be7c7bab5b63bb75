/** `rateLimit`: 429 for a client with too many requests in a window of time. @module */
import type { HTTPScope } from "../protocol/asgi.js";
import type { Middleware } from "./chain.js";
import { assertOptions, expecting, FUNCTION, oneOf, type OptionRules, whole } from "../common/options.js";
import { warnOnce } from "../common/logger.js";
import { show } from "../common/messages.js";
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
  /**
   * The requests that one key has in a window, or a function that returns them, such as by the plan of a customer. `0`
   * rejects every request, and `Infinity` allows every request and sends no headers. If the function throws or returns
   * another value than these and whole numbers, the response is 500.
   */
  limit: number | ((request: Request) => number | Promise<number>);
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
  /**
   * The headers that report the limit. `draft`: `RateLimit` and `RateLimit-Policy`
   * (draft-ietf-httpapi-ratelimit-headers-11). `legacy`: `X-RateLimit-Limit`, `X-RateLimit-Remaining` and
   * `X-RateLimit-Reset`, the seconds until the window ends. Defaults to `"draft"`. A 429 always has `Retry-After`.
   */
  headers?: "draft" | "legacy" | "none";
  /** The behavior if the store is unavailable: requests are allowed, or get 503. Defaults to `"allow"`. */
  whenStoreFails?: "allow" | "refuse";
}

/** RFC 9651 §3.3.3: a string of a structured field is printable ASCII; without quotes it needs no escapes. */
const NAME = expecting("letters, digits, - and _", (value) => typeof value === "string" && /^[\w-]+$/.test(value));

/** Tells if a value is a limit: a whole number from 0 on, or `Infinity`. */
const isLimit = (value: unknown) => value === Infinity || (Number.isSafeInteger(value) && Number(value) >= 0);

const OPTIONS: OptionRules<RateLimitOptions> = {
  limit: expecting(
    "a whole number from 0 on, Infinity or a function",
    (value) => isLimit(value) || typeof value === "function",
  ),
  windowSeconds: whole(1),
  key: FUNCTION,
  store: STORE,
  name: NAME,
  headers: oneOf("draft", "legacy", "none"),
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

type Headers = readonly (readonly [name: string, value: string])[];

/** The policy of one request. */
interface Policy {
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

/** The headers of a response by the option `headers`. @param result - `null` if the request is not counted. */
const HEADERS: Record<NonNullable<RateLimitOptions["headers"]>, (policy: Policy, result: Count | null) => Headers> = {
  draft: ({ name, limit, windowSeconds }, result) => [
    ["RateLimit-Policy", `"${name}";q=${limit};w=${windowSeconds}`],
    ...(result ? [["RateLimit", `"${name}";r=${leftOf(limit, result)};t=${secondsOf(result)}`] as const] : []),
  ],
  legacy: ({ limit }, result) => [
    ["X-RateLimit-Limit", String(limit)],
    ...(result
      ? ([
          ["X-RateLimit-Remaining", String(leftOf(limit, result))],
          ["X-RateLimit-Reset", String(secondsOf(result))],
        ] as const)
      : []),
  ],
  none: () => [],
};

const leftOf = (limit: number, { count }: Count) => Math.max(0, limit - count);

/** Makes the function that returns the limit of a request. */
function limitOf(limit: RateLimitOptions["limit"]): (request: () => Request) => Promise<number> | number {
  if (typeof limit === "number") return () => limit;
  return async (request) => {
    let given: unknown;
    try {
      given = await limit(request());
    } catch (cause) {
      // An HTTPException, too: a limit that is unknown is a failure of the server.
      throw new Error("The function `limit` of rateLimit() failed", { cause });
    }
    if (isLimit(given)) return given as number;
    throw new TypeError(
      `The function \`limit\` of rateLimit() should return a whole number from 0 on or Infinity, not ${show(given)}`,
    );
  };
}

/**
 * Bounds how often one client may ask: 429 with `Retry-After` beyond it. Every response contains the limit and the
 * remaining requests. Handshakes of WebSockets are not counted.
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
  const { windowSeconds, key, name = "default", whenStoreFails = "allow", store = memoryStore() } = options;
  for (const option of ["limit", "windowSeconds"] as const) OPTIONS[option]("rateLimit()", option, options[option]);
  const effect =
    whenStoreFails === "allow" ? "requests are allowed without being counted" : "requests get a 503 response";
  const log = new StoreLog({ of: "the rate limit", effect, back: "requests are counted again" });
  const limitFor = limitOf(options.limit);
  const headersOf = HEADERS[options.headers ?? "draft"];

  /** Counts a request; `null` if the store fails. */
  const count = async (scope: HTTPScope, client: string): Promise<Count | null> => {
    try {
      return await log.watch(scope, store.increment(`rate-limit:${name}:${client}`, windowSeconds));
    } catch {
      return null;
    }
  };

  return onHTTP((app) => async (scope, receive, send) => {
    const request = () => new Request(scope, receive);
    const limit = await limitFor(request);
    if (limit === Infinity) return app(scope, receive, send);
    const client = limit === 0 ? null : key ? await key(request()) : networkOf(scope);
    // A limit of 0 needs no count: the client can try again after a window.
    const result =
      limit === 0
        ? { count: 1, expiresInMs: windowSeconds * 1_000 }
        : client === null
          ? null
          : await count(scope, client);
    const headers = headersOf({ name, limit, windowSeconds }, result);
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
