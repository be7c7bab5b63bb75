/** Stores of counters and text with expiry, for rate limits, sessions and repeated requests. @module */
import { assertOptions, expecting, isObject, type OptionRules, whole } from "../common/options.js";
import type { HTTPScope } from "../protocol/asgi.js";
import { errorText, loggerOf } from "../common/logger.js";

/** The state of a counter. */
export interface Count {
  readonly count: number;
  /** Milliseconds until it restarts. */
  readonly expiresInMs: number;
}

/**
 * Texts and counters by key, each with a time to live: what limits, sessions and the like keep. `memoryStore()` is one of
 * this process, `redisStore(client)` of `@tsgi/redis` one for several machines.
 */
export interface Store {
  /** Returns a string, or `null` if it is missing or has expired. */
  get(key: string): Promise<string | null>;
  /** Keeps a text for so many seconds. */
  set(key: string, value: string, ttlSeconds: number): Promise<void>;
  /** Forgets a text or a counter. */
  delete(key: string): Promise<void>;
  /**
   * Adds to a counter, at once for all who ask. The first one makes it, and it expires `ttlSeconds` after that.
   *
   * @param by - Defaults to 1; may be negative.
   */
  increment(key: string, ttlSeconds: number, by?: number): Promise<Count>;
  /**
   * Sets a key that has no value yet, in one step: of several concurrent callers, one gets `true`. Optional: without this
   * method, `increment` decides which caller is the first.
   */
  add?(key: string, value: string, ttlSeconds: number): Promise<boolean>;
  /**
   * Sets a key that has a value, in one step; returns `false` if it has no value. Optional: without this method, the value is
   * read first, so a value that is deleted in between can be restored.
   */
  replace?(key: string, value: string, ttlSeconds: number): Promise<boolean>;
  /**
   * Sets a key that has the expected value, or deletes it if `next` is `null`, in one step; returns `false` if it has another
   * value. Optional: without this method, the value is read first, so a value that is set in between can be overwritten.
   */
  swap?(key: string, expected: string, next: StoredText | null): Promise<boolean>;
}

/** A text with its time to live. */
export interface StoredText {
  readonly value: string;
  readonly ttlSeconds: number;
}

/** The option is a store. */
export const STORE = expecting("a store, such as memoryStore()", (value) => {
  return isObject(value) && ["get", "set", "delete", "increment"].every((name) => name in value);
});

/** Sets a key that has no value yet, even if the store has no `add`. */
export async function addText(store: Store, key: string, value: string, ttlSeconds: number): Promise<boolean> {
  if (store.add !== undefined) return store.add(key, value, ttlSeconds);
  if ((await store.get(key)) !== null) return false;
  if ((await store.increment(claimOf(key), ttlSeconds)).count > 1) return false;
  await store.set(key, value, ttlSeconds);
  return true;
}

/** Deletes a text that `addText` has kept, unless the key has another value by now. */
export async function deleteText(store: Store, key: string, expected: string): Promise<void> {
  if ((await swapOf(store)(key, expected, null)) && store.add === undefined) await store.delete(claimOf(key));
}

const claimOf = (key: string) => `${key}:claim`;

/** Sets a key that has a value, even if the store has no `replace`. */
export async function replaceText(store: Store, key: string, value: string, ttlSeconds: number): Promise<boolean> {
  if (store.replace !== undefined) return store.replace(key, value, ttlSeconds);
  if ((await store.get(key)) === null) return false;
  await store.set(key, value, ttlSeconds);
  return true;
}

/** The `swap` of a store. If the method is missing, the value is read first. */
export function swapOf(store: Store): Required<Store>["swap"] {
  return async (key, expected, next) => {
    if (store.swap !== undefined) return store.swap(key, expected, next);
    if ((await store.get(key)) !== expected) return false;
    await (next === null ? store.delete(key) : store.set(key, next.value, next.ttlSeconds));
    return true;
  };
}

/** The options of `memoryStore`. */
export interface MemoryStoreOptions {
  /** The most keys that are kept; the oldest makes room. Defaults to 100,000. */
  maxKeys?: number;
}

const OPTIONS: OptionRules<MemoryStoreOptions> = { maxKeys: whole(1) };

interface Entry {
  value: string | number;
  /** As `performance.now()` tells it. */
  readonly expiresAt: number;
}

/** The least number of keys at which those that have expired are looked for. */
const MIN_SWEEP = 1_024;

class MemoryStore implements Required<Store> {
  readonly #entries = new Map<string, Entry>();
  readonly #maxKeys: number;
  #sweepAt = MIN_SWEEP;

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  async get(key: string): Promise<string | null> {
    const entry = this.#find(key);
    return entry ? String(entry.value) : null;
  }

  async set(key: string, value: string, ttlSeconds: number): Promise<void> {
    this.#entries.delete(key);
    this.#add(key, { value, expiresAt: performance.now() + ttlSeconds * 1_000 });
  }

  async delete(key: string): Promise<void> {
    this.#entries.delete(key);
  }

  async increment(key: string, ttlSeconds: number, by = 1): Promise<Count> {
    const now = Math.floor(performance.now()); // whole milliseconds: a sum of fractions can exceed the time to live
    let entry = this.#find(key);
    if (!entry) this.#add(key, (entry = { value: 0, expiresAt: now + ttlSeconds * 1_000 }));
    const count = Number(entry.value) + by;
    entry.value = count;
    return { count, expiresInMs: entry.expiresAt - now };
  }

  async add(key: string, value: string, ttlSeconds: number): Promise<boolean> {
    if (this.#find(key)) return false;
    await this.set(key, value, ttlSeconds);
    return true;
  }

  async replace(key: string, value: string, ttlSeconds: number): Promise<boolean> {
    if (!this.#find(key)) return false;
    await this.set(key, value, ttlSeconds);
    return true;
  }

  async swap(key: string, expected: string, next: StoredText | null): Promise<boolean> {
    const entry = this.#find(key);
    if (entry === undefined || String(entry.value) !== expected) return false;
    await (next === null ? this.delete(key) : this.set(key, next.value, next.ttlSeconds));
    return true;
  }

  #find(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.expiresAt > performance.now()) return entry;
    this.#entries.delete(key);
    return undefined;
  }

  /** Looks for expired keys each time that the number of keys has doubled, which costs each key at most two lookups. */
  #add(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    if (this.#entries.size >= this.#sweepAt) {
      const now = performance.now();
      for (const [other, { expiresAt }] of this.#entries) if (expiresAt <= now) this.#entries.delete(other);
      this.#sweepAt = Math.max(MIN_SWEEP, this.#entries.size * 2);
    }
    const oldest = this.#entries.keys().next().value;
    if (this.#entries.size > this.#maxKeys && oldest !== undefined) this.#entries.delete(oldest);
  }
}

/**
 * A store in the memory of this process, bounded.
 *
 * @example
 * ```ts
 * import { memoryStore } from "tsgi/middleware";
 *
 * const store = memoryStore({ maxKeys: 10_000 });
 * await store.set("key", "value", 60);
 * console.log(await store.get("key")); // value
 * ```
 */
export function memoryStore(options: MemoryStoreOptions = {}): Required<Store> {
  assertOptions("memoryStore()", options, OPTIONS);
  return new MemoryStore(options.maxKeys ?? 100_000);
}

/** Texts of the log entries about a store. */
interface StoreTexts {
  /** Completes "The store of …". */
  readonly of: string;
  /** The effect on requests while the store is unavailable. */
  readonly effect: string;
  /** The effect on requests when it is available again. */
  readonly back: string;
}

/** A store is unavailable, which is logged already. */
export class StoreFailure extends Error {
  override readonly name = "StoreFailure";

  constructor(cause: unknown) {
    super("The store is unavailable", { cause });
  }
}

/** The result of a call that {@link StoreLog.watch} awaits; `null` if the store is unavailable. */
export async function unlessAway<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof StoreFailure) return null;
    throw error;
  }
}

/** The response to a request that cannot do without its store. */
export const STORE_UNAVAILABLE = { statusCode: 503, detail: "Service Unavailable" } as const;

/** Logs once that a store is unavailable, and once that it is available again. */
export class StoreLog {
  readonly #texts: StoreTexts;
  #isAway = false;

  constructor(texts: StoreTexts) {
    this.#texts = texts;
  }

  /** @param error - `null` after a call that succeeded. */
  report(scope: HTTPScope, error: unknown): void {
    const isAway = error !== null;
    if (isAway === this.#isAway) return;
    this.#isAway = isAway;
    const { of, effect, back } = this.#texts;
    const logger = loggerOf(scope.app);
    if (isAway) logger.warn({ err: error }, `The store of ${of} is unavailable: ${effect}. ${errorText(error)}`);
    else logger.info({}, `The store of ${of} is available again: ${back}.`);
  }

  /**
   * Awaits a call of the store.
   *
   * @throws StoreFailure with the store's error as its cause.
   */
  async watch<T>(scope: HTTPScope, call: Promise<T>): Promise<T> {
    try {
      const value = await call;
      this.report(scope, null);
      return value;
    } catch (error) {
      this.report(scope, error ?? new Error("No reason is known."));
      throw new StoreFailure(error);
    }
  }
}
