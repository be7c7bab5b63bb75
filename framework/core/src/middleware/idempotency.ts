/** `idempotency`: the response to a repeated request is the response to the first one. @module */
import type { ASGIApp, HTTPScope, Receive, Send, SendMessage } from "../protocol/asgi.js";
import { type Middleware, documented } from "./chain.js";
import { sha256 } from "../common/digest.js";
import { assertOptions, FUNCTION, type OptionRules, whole } from "../common/options.js";
import { Request } from "../http/request.js";
import { headerValues } from "../protocol/header-list.js";
import { HEADER_NAME } from "../protocol/http-grammar.js";
import { sentPath, sentQuery } from "../protocol/scope.js";
import { digesting, isSameBody } from "./idempotency/body.js";
import { knownCaller } from "./idempotency/caller.js";
import { Claim, claimingIn, type Kept } from "./idempotency/keys.js";
import { Recording, replay } from "./idempotency/recording.js";
import { onHTTP, refuse, sendInOrder, watchLateWork } from "./layer.js";
import { STORE_UNAVAILABLE, type Store, STORE, unlessAway } from "./stores.js";

/** Options of `idempotency`. */
export interface IdempotencyOptions {
  /** The store of the responses: `memoryStore()` for one process, `redisStore(client)` of `@tsgi/redis` for several. */
  store: Store;
  /** Seconds for which a response is kept. Defaults to a day. */
  ttlSeconds?: number;
  /** The header with the key. Defaults to `"Idempotency-Key"`. */
  header?: string;
  /**
   * Identifies the caller: each caller has its own keys. Defaults to `Authorization` with the API keys of the App's
   * `APIKeyHeader`, `APIKeyQuery` and `APIKeyCookie`, else the cookies, else the client's address. A request without any of
   * them runs as if it had no key.
   */
  key?: (request: Request) => string | Promise<string>;
  /**
   * Decides by the status whether a response is kept. By default, 401, 403, 408, 409, 425 and 429 are not kept: a repeat can
   * succeed. A status from 500 on is never kept.
   */
  keep?: (status: number) => boolean;
}

const OPTIONS: OptionRules<IdempotencyOptions> = {
  store: STORE,
  ttlSeconds: whole(1),
  header: HEADER_NAME,
  key: FUNCTION,
  keep: FUNCTION,
};

/** The header of the key, by default. @see draft-ietf-httpapi-idempotency-key-header */
export const KEY_HEADER = "Idempotency-Key";

/** Statuses that depend on the time of the request: a login, a rate limit, a lock. */
const TEMPORARY: ReadonlySet<number> = new Set([401, 403, 408, 409, 425, 429]);

/** Tells if a response is kept. @param keep - The option of that name. */
export function isKept(status: number, keep: IdempotencyOptions["keep"]): boolean {
  return status < 500 && (keep === undefined ? !TEMPORARY.has(status) : keep(status));
}

const DAY = 24 * 60 * 60;
const MAX_KEY_LENGTH = 255;
/** The other methods are safe, or are not repeated by clients. */
const METHODS: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);

export const REFUSALS = {
  key: { statusCode: 400, detail: "The idempotency key must have 1 to 255 characters, in one header" },
  running: {
    statusCode: 409,
    detail: "A request with this idempotency key is still running",
    headers: { "Retry-After": "1" },
  },
  lost: {
    statusCode: 409,
    detail: "The response to the request with this idempotency key is too large to be repeated",
  },
  other: { statusCode: 422, detail: "This idempotency key was used for another request" },
} as const;

/**
 * Makes requests safe to repeat: a `POST`, `PUT`, `PATCH` or `DELETE` with an `Idempotency-Key` runs once, and each repeat
 * gets the response of the first one, with `Idempotency-Replayed: true`. A key that was used for another body or route is
 * 422, one that is still running 409. After a response that is not kept, such as 429 or 500, a repeat runs again.
 *
 * @throws ConfigurationError for an option that cannot work.
 * @see {@link https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/ | draft-ietf-httpapi-idempotency-key-header}
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { idempotency, memoryStore } from "tsgi/middleware";
 *
 * const app = new App();
 * const once = idempotency({ store: memoryStore(), ttlSeconds: 3600 });
 * app.post("/payments", { middleware: [once] }, async () => ({ id: crypto.randomUUID() }));
 * ```
 */
export function idempotency(options: IdempotencyOptions): Middleware {
  const { header, claimKey, callerOf } = compile(options);
  const { keep } = options;
  const field = header.toLowerCase();
  const middleware = onHTTP((app) => async (scope, receive, send) => {
    const keys = keysOf(scope, field);
    if (keys.length === 0) return app(scope, receive, send);
    if (!isOneKey(keys)) return refuse(scope, send, REFUSALS.key);
    // Two spellings of a path are two requests.
    const route = `${scope.method} ${sentPath(scope)}${sentQuery(scope)}`;
    const caller = await callerOf(scope, receive);
    if (caller === null) return app(scope, receive, send);
    const name = await storedNameOf(caller, keys[0]);
    const claim = await unlessAway(claimKey(scope, name, route));
    if (claim === null) return refuse(scope, send, STORE_UNAVAILABLE);
    const call = { scope, receive, send, route, keep };
    return claim instanceof Claim ? run(app, claim, call) : repeat(claim, call);
  });
  return documented(middleware, {
    affects: (method) => METHODS.has(method),
    header: {
      name: header,
      description: "A unique key, with which the request can be repeated.",
      maxLength: MAX_KEY_LENGTH,
    },
    refusals: {
      400: { description: REFUSALS.key.detail },
      409: { description: REFUSALS.running.detail, headers: { "Retry-After": "Seconds until a repeat makes sense." } },
      422: { description: REFUSALS.other.detail },
    },
  });
}

/** The keys of a request; empty if its method is safe. @param field - The name of the header in lower case. */
export function keysOf({ method, headers = [] }: HTTPScope, field: string): readonly string[] {
  return METHODS.has(method) ? headerValues(headers, field) : [];
}

/** Tells if the keys of a request are one key that can be used. */
export function isOneKey(keys: readonly string[]): keys is readonly [string] {
  const [key = "", ...others] = keys;
  return others.length === 0 && key !== "" && key.length <= MAX_KEY_LENGTH;
}

/** A key and its caller as one text of 43 characters, from which neither can be read. */
export function storedNameOf(caller: readonly unknown[], key: string): Promise<string> | string {
  return sha256(JSON.stringify([caller, key]));
}

/** A request with a key. */
interface KeyedCall {
  readonly scope: HTTPScope;
  readonly receive: Receive;
  readonly send: Send;
  /** Method, path and query. */
  readonly route: string;
  readonly keep: IdempotencyOptions["keep"];
}

/** Runs a request that has claimed its key, and stores its response. */
async function run(app: ASGIApp, claim: Claim, { scope, receive, send, route, keep }: KeyedCall): Promise<void> {
  const body = digesting(receive);
  const [watched, late] = watchLateWork(scope);
  const release = async () => {
    for (const work of late) await work;
    await claim.release();
  };
  const recording = new Recording(send, async (response) => {
    if (response !== null && isKept(response.status, keep)) {
      return claim.keep({ route, body: await body.state(), response });
    }
    const released = release();
    // A 504 is sent although the handler still runs: until it has ended, a repeat must not run.
    if (late.length === 0) await released;
  });
  try {
    const recorded = sendInOrder((message: SendMessage) => recording.take(message));
    await app(watched, body.receive, recorded);
  } finally {
    await recording.abandon();
  }
}

/** Responds to a request whose key is known. */
async function repeat(kept: Kept, { scope, receive, send, route }: KeyedCall): Promise<void> {
  if (kept.route !== route) return refuse(scope, send, REFUSALS.other);
  if (kept.body === null || kept.response === null) return refuse(scope, send, REFUSALS.running);
  if (!(await isSameBody(receive, kept.body))) return refuse(scope, send, REFUSALS.other);
  const { body } = kept.response;
  return body === null ? refuse(scope, send, REFUSALS.lost) : replay(kept.response, body, send);
}

function compile(options: IdempotencyOptions) {
  assertOptions("idempotency()", options, OPTIONS);
  const { store, ttlSeconds = DAY, header = KEY_HEADER, key } = options;
  OPTIONS.store("idempotency()", "store", store);
  const callerOf = async (scope: HTTPScope, receive: Receive): Promise<readonly unknown[] | null> =>
    key === undefined ? knownCaller(scope) : ["key", await key(new Request(scope, receive))];
  return { header, claimKey: claimingIn(store, ttlSeconds), callerOf };
}
