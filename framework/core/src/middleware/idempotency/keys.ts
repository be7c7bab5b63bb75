/** The keys of requests in a store: claimed by one request, then kept with its response. @module */
import type { HTTPScope } from "../../protocol/asgi.js";
import { StoreLog, addText, deleteText, type Store } from "../stores.js";
import type { BodyState } from "./body.js";
import type { RecordedResponse } from "./recording.js";

/** A key in the store. */
export interface Kept {
  /** Method, path and query of the first request. */
  readonly route: string;
  /** `null` while the first request is running. */
  readonly body: BodyState | null;
  /** `null` while it is running. */
  readonly response: RecordedResponse | null;
}

/**
 * Seconds for which a claim is valid without renewal. If a process dies, its keys can be used again after that time; a process
 * that lives renews its claims three times as often.
 */
const LEASE_SECONDS = 60;

/** Claims, keeps and releases keys. */
export class Keys {
  readonly #store: Store;
  readonly #ttlSeconds: number;
  readonly #leaseSeconds: number;
  readonly #log = new StoreLog({
    of: "the idempotency keys",
    effect: "requests with a key get 503",
    back: "requests with a key run again",
  });

  constructor(store: Store, ttlSeconds: number) {
    this.#store = store;
    this.#ttlSeconds = ttlSeconds;
    // Without `add`, the counter of a claim cannot be renewed: it lasts as long as a response.
    this.#leaseSeconds = store.add === undefined ? ttlSeconds : Math.min(LEASE_SECONDS, ttlSeconds);
  }

  /**
   * Claims a key for a request. Returns `null` for the one that gets it, else the entry of the request that has it.
   *
   * @throws StoreFailure if the store is unavailable.
   */
  claim(scope: HTTPScope, name: string, route: string): Promise<Kept | null> {
    return this.#log.watch(scope, this.#claim(keyOf(name), route));
  }

  async #claim(key: string, route: string): Promise<Kept | null> {
    const claim = JSON.stringify({ route, body: null, response: null } satisfies Kept);
    if (await addText(this.#store, key, claim, this.#leaseSeconds)) return null;
    const text = await this.#store.get(key);
    // The first request was released in between, or has not written its claim yet: this one is repeated by its client.
    return text === null ? { route, body: null, response: null } : (JSON.parse(text) as Kept);
  }

  /** Keeps the response. If the store is unavailable, the response is still sent, and the key expires. */
  keep(scope: HTTPScope, name: string, kept: Kept): Promise<void> {
    return this.#ignoring(scope, this.#store.set(keyOf(name), JSON.stringify(kept), this.#ttlSeconds));
  }

  /** Releases a key, so that a repeat runs. */
  release(scope: HTTPScope, name: string): Promise<void> {
    return this.#ignoring(scope, deleteText(this.#store, keyOf(name)));
  }

  /** Renews a claim until `stop` is called. */
  renewWhile(scope: HTTPScope, name: string, route: string): { readonly stop: () => void } {
    const claim = JSON.stringify({ route, body: null, response: null } satisfies Kept);
    const renew = () => void this.#ignoring(scope, this.#store.set(keyOf(name), claim, this.#leaseSeconds));
    const timer = setInterval(renew, Math.min(LEASE_SECONDS, this.#leaseSeconds) * (1_000 / 3));
    timer.unref?.();
    return { stop: () => clearInterval(timer) };
  }

  /** A failure is logged. */
  async #ignoring(scope: HTTPScope, call: Promise<void>): Promise<void> {
    await this.#log.watch(scope, call).catch(() => {});
  }
}

const keyOf = (name: string) => `idempotency:${name}`;
