/**
 * Broadcast and stream logs: `@tsgi/broadcast`.
 *
 * These errors are thrown when you create a backplane or a log, or at its first use. See [broadcast.md](broadcast.md).
 * @module
 */
import { describe, errorsOf } from "tsgi/internals";

const MESSAGES = {
  /** You use Redis with `@tsgi/broadcast`, but its peer dependency `ioredis` is not installed. */
  TSGI_MISSING_BROADCAST_REDIS:
    "@tsgi/broadcast needs the package ioredis to connect to Redis, and cannot load it. Run: npm install ioredis",
  /** You use `postgresBackplane()` of `@tsgi/broadcast`, but its peer dependency `pg` is not installed. */
  TSGI_MISSING_BROADCAST_POSTGRES:
    "@tsgi/broadcast needs the package pg to connect to PostgreSQL, and cannot load it. Run: npm install pg",
  /**
   * The options of a `StreamLog` do not say where it keeps its events.
   *
   * Pass the URL or an ioredis client of Redis. For one process, or in tests, keep the events in memory.
   *
   * ```js
   * // Wrong
   * new StreamLog({});
   * ```
   *
   * ```js
   * // Right
   * new StreamLog({ memory: true });
   * ```
   */
  TSGI_STREAM_LOG_WITHOUT_STORE: (given: unknown) =>
    `new StreamLog() needs a store, but got ${describe(given)}. Write { redis: "redis://127.0.0.1:6379" } or { memory: true }.`,
};

/** Makes an error of this package. */
export const broadcastError = errorsOf(MESSAGES);
