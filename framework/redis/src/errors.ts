/**
 * Redis: `@tsgi/redis`.
 *
 * Thrown when a store is made or opened. See [middleware.md](middleware.md#rate-limiting).
 * @module
 */
import { describe, errorsOf } from "tsgi/internals";

const MESSAGES = {
  /** `openRedisStore()` of `@tsgi/redis` is used, and its peer dependency `ioredis` is not installed. */
  TSGI_MISSING_REDIS_CLIENT:
    "openRedisStore() requires the package ioredis, which cannot be loaded. Run: npm install ioredis",
  /**
   * `redisStore` was given something other than a client of Redis.
   *
   * It takes a client of the package `ioredis` or `redis`, which the application opens and closes.
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
