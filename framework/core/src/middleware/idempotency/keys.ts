/** The keys of requests in a store: claimed by one request, then kept with its response. @module */
import type { HTTPScope } from "../../protocol/asgi.js";
import { StoreLog, addText, deleteText, type Store, swapOf } from "../stores.js";
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
  /** A random id of a request that is running. */
  readonly owner?: string;
}

/**
 * Seconds for which a claim is valid without renewal. If a process dies, its keys can be used again after that time; a process
 * that lives renews its claims three times as often.
 */
const LEASE_SECONDS = 60;

/**
 * Claims a key for a request. Returns the claim to the request that gets it, and to others the entry of that request.
 *
 * @throws StoreFailure if the store is unavailable.
 */
export type ClaimKey = (scope: HTTPScope, name: string, route: string) => Promise<Claim | Kept>;

/** Makes the function that claims keys in a store. */
export function claimingIn(store: Store, ttlSeconds: number): ClaimKey {
  const log = new StoreLog({
    of: "the idempotency keys",
    effect: "requests with a key get 503",
    full: "responses are sent without being kept, so repeats run again, and requests with a new key can get 503",
    back: "requests with a key run again",
  });
  // Without `add`, the counter of a claim cannot be renewed: it lasts as long as a response.
  const leaseSeconds = store.add === undefined ? ttlSeconds : Math.min(LEASE_SECONDS, ttlSeconds);
  const claim: ClaimKey = async (scope, name, route) => {
    const key = `idempotency:${name}`;
    const running: Kept = { route, body: null, response: null, owner: crypto.randomUUID() };
    const text = JSON.stringify(running);
    if (await addText(store, key, text, leaseSeconds)) {
      const watch = <T>(call: Promise<T>) => log.watch(scope, call);
      return new Claim({ store, key, text, ttlSeconds, leaseSeconds, watch });
    }
    const known = await store.get(key);
    // The first request was released in between, or has not written its claim yet: this one is repeated by its client.
    return known === null ? running : (JSON.parse(known) as Kept);
  };
  return (scope, name, route) => log.watch(scope, claim(scope, name, route));
}

/** The store, the key and the times of one claim. */
interface ClaimParts {
  readonly store: Store;
  readonly key: string;
  /** The text in the store, by which the claim is recognized. */
  readonly text: string;
  readonly ttlSeconds: number;
  readonly leaseSeconds: number;
  /** Awaits a call of the store, and logs its failure. */
  readonly watch: <T>(call: Promise<T>) => Promise<T>;
}

/**
 * The key of a running request, which it renews until the request ends. A process that was stopped for longer than the lease
 * can have lost its key to another request: then the claim does not change the key.
 */
export class Claim {
  readonly #parts: ClaimParts;
  readonly #renewal: ReturnType<typeof setInterval>;

  constructor(parts: ClaimParts) {
    this.#parts = parts;
    const { store, key, text, leaseSeconds } = parts;
    const renew = () => this.#ignoring(swapOf(store)(key, text, { value: text, ttlSeconds: leaseSeconds }));
    this.#renewal = setInterval(() => void renew(), Math.min(LEASE_SECONDS, leaseSeconds) * (1_000 / 3));
    this.#renewal.unref?.();
  }

  /**
   * Keeps the response. If the store has no room for it, the key is released. If the store is unavailable, the response is
   * still sent, and the key expires.
   */
  async keep(kept: Kept): Promise<void> {
    clearInterval(this.#renewal);
    const { store, key, text, ttlSeconds } = this.#parts;
    const value = JSON.stringify(kept);
    const keep = async () =>
      (await swapOf(store)(key, text, { value, ttlSeconds })) || addText(store, key, value, ttlSeconds);
    if (!(await this.#ignoring(keep()))) await this.release();
  }

  /** Releases the key, so that a repeat runs. */
  async release(): Promise<void> {
    clearInterval(this.#renewal);
    const { store, key, text } = this.#parts;
    await this.#ignoring(deleteText(store, key, text));
  }

  /** A failure is logged. Returns whether the call succeeded. */
  #ignoring(call: Promise<unknown>): Promise<boolean> {
    const succeeded = async () => {
      await call;
      return true;
    };
    return this.#parts.watch(succeeded()).catch(() => false);
  }
}
