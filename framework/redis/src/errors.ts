/**
 * Redis: `@tsgi/redis`.
 *
 * These errors are thrown when you create or open a store. See [middleware.md](middleware.md#rate-limiting).
 * @module
 */
import { describe, errorsOf } from "tsgi/internals";

const MESSAGES = {
  /** You use `openRedisStore()` of `@tsgi/redis`, but its peer dependency `ioredis` is not installed. */
  TSGI_MISSING_REDIS_CLIENT:
    "openRedisStore() requires the package ioredis, which cannot be loaded. Run: npm install ioredis",
  /**
   * The argument of `redisStore` is not a Redis client.
   *
   * Pass a client of the package `ioredis` or `redis`. Your application opens and closes the client.
   *
   * ```js
   * // Wrong
   * redisStore("redis://localhost:6379");
   * ```
   */
  TSGI_NOT_A_REDIS_CLIENT: (given: unknown) =>
    `redisStore() takes a client of ioredis or redis, not ${describe(given)}. Write redisStore(new Redis(url)).`,
};

/** Makes an error of this package. */
export const redisError = errorsOf(MESSAGES);
