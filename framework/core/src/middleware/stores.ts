/** Stores of counters and text with expiry, for rate limits, sessions and repeated requests. @module */
import { assertOptions, expecting, isObject, type OptionRules, whole, withDefaults } from "../common/options.js";
import type { HTTPScope, WebSocketScope } from "../protocol/asgi.js";
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
  /** The most keys that are kept. Defaults to 100,000. */
  maxKeys?: number;
  /** The most characters of keys and values that are kept. Defaults to 67,108,864 (64 MiB). */
  maxBytes?: number;
}

const OPTIONS: OptionRules<MemoryStoreOptions> = { maxKeys: whole(1), maxBytes: whole(1) };

/** A store has no room for a value. */
export class StoreFullError extends Error {
  override readonly name = "StoreFullError";
}

interface Entry {
  value: string | number;
  /** As `performance.now()` tells it. */
  readonly expiresAt: number;
}

/** A counter has 8 bytes. */
const sizeOf = (key: string, { value }: Entry) => key.length + (typeof value === "number" ? 8 : value.length);

/** Entries in the order in which they were stored, with the characters of all. */
class Entries extends Map<string, Entry> {
  bytes = 0;

  override set(key: string, entry: Entry): this {
    this.delete(key);
    this.bytes += sizeOf(key, entry);
    return super.set(key, entry);
  }

  override delete(key: string): boolean {
    const entry = this.get(key);
    if (entry !== undefined) this.bytes -= sizeOf(key, entry);
    return super.delete(key);
  }
}

/** Milliseconds between two searches for expired keys if the store is full. Each looks at all keys. */
const SWEEP_MS = 1_000;

/** The least number of keys at which those that have expired are looked for. */
const MIN_SWEEP = 1_024;

class MemoryStore implements Required<Store> {
  /** The texts of `set`, which make room for other entries. */
  readonly #texts = new Entries();
  /**
   * Counters and claims, which never make room. Attack: a client that fills the store would reset its throttle, or run a
   * request twice.
   */
  readonly #held = new Entries();
  readonly #limits: Required<MemoryStoreOptions>;
  #sweepAt = MIN_SWEEP;
  #sweptAt = -Infinity;

  constructor(limits: Required<MemoryStoreOptions>) {
    this.#limits = limits;
  }

  async get(key: string): Promise<string | null> {
    const entry = this.#find(key);
    return entry ? String(entry.value) : null;
  }

  async set(key: string, value: string, ttlSeconds: number): Promise<void> {
    this.#keep(this.#texts, key, { value, expiresAt: performance.now() + ttlSeconds * 1_000 });
  }

  async delete(key: string): Promise<void> {
    this.#remove(key);
  }

  async increment(key: string, ttlSeconds: number, by = 1): Promise<Count> {
    const now = Math.floor(performance.now()); // whole milliseconds: a sum of fractions can exceed the time to live
    const entry = this.#find(key) ?? { value: 0, expiresAt: now + ttlSeconds * 1_000 };
    const { value, expiresAt } = entry;
    const count = Number(value) + by;
    if (typeof value === "number" && this.#held.has(key)) entry.value = count;
    else this.#keep(this.#held, key, { value: count, expiresAt });
    return { count, expiresInMs: expiresAt - now };
  }

  async add(key: string, value: string, ttlSeconds: number): Promise<boolean> {
    if (this.#find(key)) return false;
    this.#keep(this.#held, key, { value, expiresAt: performance.now() + ttlSeconds * 1_000 });
    return true;
  }

  async replace(key: string, value: string, ttlSeconds: number): Promise<boolean> {
    const entry = this.#find(key);
    if (!entry) return false;
    // A claim that is renewed is still a claim.
    const entries = this.#held.get(key)?.value === value ? this.#held : this.#texts;
    this.#keep(entries, key, { value, expiresAt: performance.now() + ttlSeconds * 1_000 });
    return true;
  }

  async swap(key: string, expected: string, next: StoredText | null): Promise<boolean> {
    const entry = this.#find(key);
    if (entry === undefined || String(entry.value) !== expected) return false;
    await (next === null ? this.delete(key) : this.replace(key, next.value, next.ttlSeconds));
    return true;
  }

  #find(key: string): Entry | undefined {
    const entry = this.#texts.get(key) ?? this.#held.get(key);
    if (entry === undefined || entry.expiresAt > performance.now()) return entry;
    this.#remove(key);
    return undefined;
  }

  #remove(key: string): void {
    if (!this.#texts.delete(key)) this.#held.delete(key);
  }

  get #size(): number {
    return this.#texts.size + this.#held.size;
  }

  /** @throws StoreFullError if counters and claims have all the room. */
  #keep(into: Entries, key: string, entry: Entry): void {
    const before = this.#held.has(key) ? this.#held : this.#texts;
    const own = before.get(key);
    before.delete(key);
    if (!this.#makeRoom(sizeOf(key, entry))) {
      if (own !== undefined) before.set(key, own);
      const { maxKeys, maxBytes } = this.#limits;
      throw new StoreFullError(`memoryStore() has no room: maxKeys is ${maxKeys}, and maxBytes is ${maxBytes}.`);
    }
    into.set(key, entry);
    if (this.#size >= this.#sweepAt) this.#sweep();
  }

  /** Makes room for a new entry. Returns `false` if counters and claims have all the room. */
  #makeRoom(bytes: number): boolean {
    const { maxKeys, maxBytes } = this.#limits;
    const isFull = () => this.#size >= maxKeys || this.#texts.bytes + this.#held.bytes + bytes > maxBytes;
    if (isFull() && performance.now() - this.#sweptAt >= SWEEP_MS) this.#sweep();
    if (this.#held.size >= maxKeys || this.#held.bytes + bytes > maxBytes) return false;
    for (const oldest of this.#texts.keys()) {
      if (!isFull()) break;
      this.#texts.delete(oldest);
    }
    return true;
  }

  /** Runs when the number of keys has doubled, which costs each key at most two lookups, and if the store is full. */
  #sweep(): void {
    const now = performance.now();
    for (const entries of [this.#texts, this.#held]) {
      for (const [key, { expiresAt }] of entries) if (expiresAt <= now) entries.delete(key);
    }
    this.#sweptAt = now;
    this.#sweepAt = Math.max(MIN_SWEEP, this.#size * 2);
  }
}

/**
 * A store in the memory of this process, with limits. If a limit is reached, the oldest texts that `set` has stored are
 * removed. Counters and claims are never removed, because a client could reset its rate limit that way: if they have all
 * the room, calls that need more reject.
 *
 * @example
 * ```ts
 * import { memoryStore } from "tsgi/middleware";
 *
 * const store = memoryStore({ maxKeys: 10_000, maxBytes: 16 * 1024 * 1024 });
 * await store.set("key", "value", 60);
 * console.log(await store.get("key")); // value
 * ```
 */
export function memoryStore(options: MemoryStoreOptions = {}): Required<Store> {
  assertOptions("memoryStore()", options, OPTIONS);
  return new MemoryStore(withDefaults(options, { maxKeys: 100_000, maxBytes: 64 * 1024 * 1024 }));
}

/** Texts of the log entries about a store. */
interface StoreTexts {
  /** Completes "The store of …". */
  readonly of: string;
  /** The effect on requests while the store is unavailable. */
  readonly effect: string;
  /** The effect on requests when it is available again. */
  readonly back: string;
  /** The effect on requests while the store has no room. Defaults to `effect`. */
  readonly full?: string;
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

/** Logs once that a store is unavailable, and once that it is available again. That it has no room is logged once. */
export class StoreLog {
  readonly #texts: StoreTexts;
  #isAway = false;
  #wasFull = false;

  constructor(texts: StoreTexts) {
    this.#texts = texts;
  }

  /** @param error - `null` after a call that succeeded. */
  report(scope: HTTPScope | WebSocketScope, error: unknown): void {
    if (error instanceof StoreFullError) return this.#reportFull(scope, error);
    const isAway = error !== null;
    if (isAway === this.#isAway) return;
    this.#isAway = isAway;
    const { of, effect, back } = this.#texts;
    const logger = loggerOf(scope.app);
    if (isAway) logger.warn({ err: error }, `The store of ${of} is unavailable: ${effect}. ${errorText(error)}`);
    else logger.info({}, `The store of ${of} is available again: ${back}.`);
  }

  /** Once: a full store has room again for some keys, with each request. */
  #reportFull(scope: HTTPScope | WebSocketScope, error: StoreFullError): void {
    if (this.#wasFull) return;
    this.#wasFull = true;
    const { of, effect, full = effect } = this.#texts;
    loggerOf(scope.app).warn({ err: error }, `The store of ${of} has no room: ${full}. ${error.message}`);
  }

  /**
   * Awaits a call of the store.
   *
   * @throws StoreFailure with the store's error as its cause.
   */
  async watch<T>(scope: HTTPScope | WebSocketScope, call: Promise<T>): Promise<T> {
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
