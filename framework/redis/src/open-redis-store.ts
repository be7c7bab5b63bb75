/** A store in Redis with a separate connection. @module */
import { redisError } from "./errors.js";
import type * as Library from "ioredis";
import {
  assertOptions,
  ConnectError,
  consoleLogger,
  describeError,
  guardLogger,
  MAX_TIMER_MS,
  missingPackage,
  OBJECT,
  oneOf,
  type OptionRules,
  quoteWord,
  REDIS_OPTIONS,
  TEXT,
  whole,
} from "tsgi/internals";
import type { Logger } from "tsgi";
import { memoryStore, type Store } from "tsgi/middleware";
import { redisStore, type RedisStoreOptions } from "./redis-store.js";

/** The options of `openRedisStore`. */
export interface OpenRedisStoreOptions extends RedisStoreOptions {
  /** Is told once that Redis is away, and once that it is back. Defaults to lines on stderr. */
  logger?: Logger;
  /**
   * The behavior if Redis is unavailable: `"memory"` continues in the memory of this process, `"refuse"` fails each call, so
   * that requests that need the store get 503. Use `"refuse"` for sessions and idempotency keys, which every process has to
   * know. Defaults to `"memory"`.
   */
  whenRedisFails?: "memory" | "refuse";
}

/** A store with a separate connection. */
export interface OpenedRedisStore extends Required<Store> {
  close(): void;
}

const OPTIONS: OptionRules<OpenRedisStoreOptions> = {
  prefix: TEXT,
  timeoutMs: whole(1, MAX_TIMER_MS),
  logger: OBJECT,
  whenRedisFails: oneOf("memory", "refuse"),
};

/**
 * Connects to Redis, and returns a store that continues in the memory of this process while Redis is unavailable: no
 * call waits for it, and the application starts without it. Stands on the package `ioredis`.
 *
 * @param url - `redis://host:6379`, or the path of a socket.
 * @throws ConfigurationError where that package is missing.
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { rateLimit } from "tsgi/middleware";
 * import { openRedisStore } from "@tsgi/redis";
 *
 * const store = await openRedisStore("redis://127.0.0.1:6379");
 * const app = new App({ middleware: [rateLimit({ limit: 100, windowSeconds: 60, store })] });
 * app.onShutdown(() => store.close());
 * ```
 */
export async function openRedisStore(url: string, options: OpenRedisStoreOptions = {}): Promise<OpenedRedisStore> {
  assertOptions("openRedisStore()", options, OPTIONS);
  const { prefix = "tsgi:", timeoutMs = 100, whenRedisFails = "memory" } = options;
  const logger = guardLogger(options.logger ?? consoleLogger);
  const { Redis } = await import("ioredis").catch(missingPackage(() => redisError("TSGI_MISSING_REDIS_CLIENT")));
  const client = new Redis(url, {
    ...REDIS_OPTIONS,
    lazyConnect: true,
    retryStrategy: (attempt) => Math.min(attempt * 100, 1_000),
  });
  let lastError: unknown;
  client.on("error", (error) => (lastError = error));
  let isAway: boolean | null = null;
  const report = (away: boolean, cause?: unknown) => {
    if (away === isAway) return;
    isAway = away;
    if (!away) return logger.info({}, "Redis is available: counts are shared.");
    const effect = whenRedisFails === "memory" ? "this process counts by itself" : "its store fails";
    logger.warn({ err: connectErrorOf(client, cause) }, `Redis is unavailable: ${effect}.`);
  };
  await client.connect().then(
    () => report(false),
    (error: unknown) => report(true, lastError ?? error),
  );
  const [shared, own] = [redisStore(client, { prefix, timeoutMs }), memoryStore()];
  const share = async <T>(use: (store: Required<Store>) => Promise<T>): Promise<T> => {
    try {
      const value = await use(shared);
      report(false);
      return value;
    } catch (error) {
      report(true, lastError ?? error);
      if (whenRedisFails === "refuse") throw error;
      return use(own);
    }
  };
  return {
    get: (key) => share((store) => store.get(key)),
    set: (key, value, ttlSeconds) => share((store) => store.set(key, value, ttlSeconds)),
    delete: (key) => share((store) => store.delete(key)),
    add: (key, value, ttlSeconds) => share((store) => store.add(key, value, ttlSeconds)),
    replace: (key, value, ttlSeconds) => share((store) => store.replace(key, value, ttlSeconds)),
    swap: (key, expected, next) => share((store) => store.swap(key, expected, next)),
    increment: (key, ttlSeconds, by) => share((store) => store.increment(key, ttlSeconds, by)),
    close: () => client.disconnect(),
  };
}

function connectErrorOf({ options }: Library.Redis, cause: unknown): ConnectError {
  const { path, host = "localhost", port = 6379 } = options;
  const place = path === undefined ? `-h ${quoteWord(host)} -p ${port}` : `-s ${quoteWord(path)}`;
  const server = {
    name: "Redis",
    host: path ?? host,
    port,
    startCommand: path === undefined ? `redis-server --port ${port}` : `redis-server --unixsocket ${quoteWord(path)}`,
    pingCommand: `redis-cli ${place} ping`,
  };
  const isLocked = /^(?:NOAUTH|WRONGPASS)/.test(describeError(cause).message);
  return new ConnectError(server, cause, isLocked ? "Write its password into the URL" : undefined);
}
