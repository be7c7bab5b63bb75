/** The stores that a middleware may be given: memory, Redis, and one of an application that has the required methods only. */
import { afterAll, beforeAll, describe } from "@jest/globals";
import { Redis } from "ioredis";
import { redisStore } from "@tsgi/redis";
import { memoryStore, type Store } from "../../src/middleware/index.js";
import { HAS_REDIS, type RedisServer, startRedis } from "../../../test/support/redis-server.js";

/** A store and its clock. */
export interface OpenedStore {
  readonly store: Store;
  /** Names of the keys that it has. */
  readonly keys: () => Promise<string[]>;
  /** Seconds until a key expires. */
  readonly secondsLeft: (key: string) => Promise<number>;
}

/** A store over the memory of this process, which can be looked at. */
function openMemory(): OpenedStore {
  const inner = memoryStore();
  const ends = new Map<string, number>();
  const note = (key: string, ttlSeconds: number) => void ends.set(key, performance.now() / 1_000 + ttlSeconds);
  const store: Required<Store> = {
    get: (key) => inner.get(key),
    set: (key, value, ttlSeconds) => (note(key, ttlSeconds), inner.set(key, value, ttlSeconds)),
    delete: (key) => (ends.delete(key), inner.delete(key)),
    increment: (key, ttlSeconds, by) => (note(key, ttlSeconds), inner.increment(key, ttlSeconds, by)),
    add: async (key, value, ttlSeconds) => {
      const isAdded = await inner.add(key, value, ttlSeconds);
      if (isAdded) note(key, ttlSeconds);
      return isAdded;
    },
    replace: async (key, value, ttlSeconds) => {
      const isReplaced = await inner.replace(key, value, ttlSeconds);
      if (isReplaced) note(key, ttlSeconds);
      return isReplaced;
    },
    swap: async (key, expected, next) => {
      const isSwapped = await inner.swap(key, expected, next);
      if (isSwapped && next === null) ends.delete(key);
      else if (isSwapped && next !== null) note(key, next.ttlSeconds);
      return isSwapped;
    },
  };
  return {
    store,
    keys: async () => [...ends.keys()],
    secondsLeft: async (key) => (ends.get(key) ?? 0) - performance.now() / 1_000,
  };
}

/** One with the methods that a store must have. */
function openRequired(): OpenedStore {
  const { store, ...rest } = openMemory();
  const required: Store = {
    get: (key) => store.get(key),
    set: (...given) => store.set(...given),
    delete: (key) => store.delete(key),
    increment: (...given) => store.increment(...given),
  };
  return { store: required, ...rest };
}

let server: RedisServer;
let client: Redis;
let opened = 0;

function openRedis(): OpenedStore {
  const prefix = `test${++opened}:`;
  return {
    store: redisStore(client, { prefix, timeoutMs: 10_000 }),
    keys: async () => (await client.keys(`${prefix}*`)).map((key) => key.slice(prefix.length)),
    secondsLeft: async (key) => (await client.pttl(prefix + key)) / 1_000,
  };
}

/** Defines the same tests for each store. Call it once in a file. */
export function describeStores(define: (name: string, open: () => OpenedStore) => void): void {
  beforeAll(async () => {
    if (!HAS_REDIS) return;
    server = await startRedis();
    client = new Redis(server.path);
  });
  afterAll(async () => {
    client?.disconnect();
    await server?.[Symbol.asyncDispose]();
  });
  describe("over memoryStore", () => {
    define("memoryStore", openMemory);
  });
  describe("over a store with the required methods only", () => {
    define("required methods", openRequired);
  });
  const describeWithRedis = HAS_REDIS ? describe : describe.skip;
  describeWithRedis(`over redisStore${HAS_REDIS ? "" : " (redis-server is not installed)"}`, () => {
    define("redisStore", openRedis);
  });
}

/** A store that is away: every call of it fails. */
export const AWAY: Store = {
  get: () => Promise.reject(new Error("Redis is not connected.")),
  set: () => Promise.reject(new Error("Redis is not connected.")),
  delete: () => Promise.reject(new Error("Redis is not connected.")),
  increment: () => Promise.reject(new Error("Redis is not connected.")),
};
