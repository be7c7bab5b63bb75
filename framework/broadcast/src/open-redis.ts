/** Connections to Redis that fail instead of waiting, and reconnect by themselves. @module */
import type { Redis, RedisOptions } from "ioredis";
import { missingPackage, REDIS_OPTIONS } from "tsgi/internals";
import { broadcastError } from "./errors.js";

const OPTIONS: RedisOptions = {
  ...REDIS_OPTIONS,
  // `ready` is emitted before the library subscribes again.
  autoResubscribe: false,
  retryStrategy: (attempt) => Math.min(attempt * 50, 500),
};

/**
 * Makes a client that begins to connect. Its commands are neither queued nor sent again: a message is delivered at most once.
 *
 * @throws ConfigurationError without the package `ioredis`.
 */
export async function openRedis(url: string): Promise<Redis> {
  const library = await import("ioredis").catch(missingPackage(() => broadcastError("TSGI_MISSING_BROADCAST_REDIS")));
  return begin(new library.Redis(url, OPTIONS));
}

/** Makes a second connection to the server of a client. */
export function duplicate(client: Redis): Redis {
  return begin(client.duplicate(OPTIONS));
}

/** Makes a client connect that waits for its first command, as `lazyConnect` says. */
export function begin(client: Redis): Redis {
  client.on("error", () => {}); // `close` follows
  if (client.status === "wait") client.connect().catch(() => {});
  return client;
}
