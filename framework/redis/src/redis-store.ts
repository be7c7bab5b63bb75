/** A store over a client that the application has. @module */
import { redisError } from "./errors.js";
import {
  assertOptions,
  inTime,
  isObject,
  MAX_TIMER_MS,
  type OptionRules,
  RedisScript,
  TEXT,
  whole,
} from "tsgi/internals";
import type { Count, Store } from "tsgi/middleware";

/** The parts of an `ioredis` client that are used here. */
interface IORedisClient {
  readonly status: string;
  call(command: string, ...args: readonly string[]): Promise<unknown>;
}

/** The parts of a `redis` (node-redis) client that are used here. */
interface NodeRedisClient {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  sendCommand(args: readonly string[]): Promise<unknown>;
}

/** A client of `ioredis` or `redis`, which the application opens and closes. */
export type RedisClient = IORedisClient | NodeRedisClient;

/** The options of `redisStore`. */
export interface RedisStoreOptions {
  /** In front of each key. Defaults to `"tsgi:"`. */
  prefix?: string;
  /** Milliseconds after which a command without a reply has failed. Defaults to 1,000. */
  timeoutMs?: number;
}

const OPTIONS: OptionRules<RedisStoreOptions> = { prefix: TEXT, timeoutMs: whole(1, MAX_TIMER_MS) };

/** The states of an `ioredis` client before its connection is there. In the first one, a command makes it connect. */
const CONNECTING: ReadonlySet<string> = new Set(["wait", "connecting", "connect"]);

const INCREMENT = new RedisScript(
  "local count = redis.call('INCRBY', KEYS[1], ARGV[1]) " +
    "local left = redis.call('PTTL', KEYS[1]) " +
    "if left < 0 then left = tonumber(ARGV[2]) redis.call('PEXPIRE', KEYS[1], left) end " +
    "return { count, left }",
);

/** Sets, or without a value deletes, a key whose value is the first argument. */
const SWAP = new RedisScript(
  "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end " +
    "if ARGV[2] then redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) else redis.call('DEL', KEYS[1]) end " +
    "return 1",
);

/**
 * A store in Redis, for several processes and machines. While Redis is unavailable, or does not reply in time, every
 * call fails immediately without waiting. Only the first connection of the client is waited for.
 *
 * @param client - Of `ioredis` or `redis`.
 * @throws ConfigurationError for anything but such a client.
 * @example
 * ```ts
 * import { Redis } from "ioredis";
 * import { App } from "tsgi";
 * import { rateLimit } from "tsgi/middleware";
 * import { redisStore } from "@tsgi/redis";
 *
 * const client = new Redis("redis://127.0.0.1:6379", { lazyConnect: true });
 * const app = new App({ middleware: [rateLimit({ limit: 100, windowSeconds: 60, store: redisStore(client) })] });
 * ```
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): Required<Store> {
  const given: unknown = client;
  if (!isObject(given) || !("call" in given || "sendCommand" in given)) {
    throw redisError("TSGI_NOT_A_REDIS_CLIENT", client);
  }
  assertOptions("redisStore()", options, OPTIONS);
  const { prefix = "tsgi:", timeoutMs = 1_000 } = options;
  const isReady = () => ("call" in client ? client.status === "ready" : client.isReady);
  const isConnecting = () => ("call" in client ? CONNECTING.has(client.status) : client.isOpen);
  /** The client queues commands until its first connection is there. After a failure they would wait for the server. */
  let isFirst = true;
  const canSend = () => {
    isFirst &&= !isReady() && isConnecting();
    return isFirst || isReady();
  };
  /** Commands without a reply in time. Until they have one, no other call waits. */
  let late = 0;
  const send = async (...args: readonly [string, ...string[]]): Promise<unknown> => {
    if (!canSend()) throw new Error("Redis is not connected.");
    if (late > 0) throw new Error("Redis has not replied yet.");
    const [command, ...rest] = args;
    const reply = "call" in client ? client.call(command, ...rest) : client.sendCommand(args);
    const onLate = () => {
      late++;
      void reply.catch(() => {}).finally(() => late--);
    };
    return inTime(reply, timeoutMs, onLate);
  };
  const runScript = (script: RedisScript, key: string, values: readonly string[]) =>
    script.run((command, text) => send(command, text, "1", prefix + key, ...values));
  const milliseconds = (seconds: number) => String(Math.max(1, Math.round(seconds * 1_000)));
  return {
    async get(key) {
      const value = await send("GET", prefix + key);
      return typeof value === "string" ? value : null;
    },
    async set(key, value, ttlSeconds) {
      await send("SET", prefix + key, value, "PX", milliseconds(ttlSeconds));
    },
    async delete(key) {
      await send("DEL", prefix + key);
    },
    async add(key, value, ttlSeconds) {
      return (await send("SET", prefix + key, value, "PX", milliseconds(ttlSeconds), "NX")) !== null;
    },
    async replace(key, value, ttlSeconds) {
      return (await send("SET", prefix + key, value, "PX", milliseconds(ttlSeconds), "XX")) !== null;
    },
    async swap(key, expected, next) {
      const values = next === null ? [] : [next.value, milliseconds(next.ttlSeconds)];
      return (await runScript(SWAP, key, [expected, ...values])) === 1;
    },
    async increment(key, ttlSeconds, by = 1): Promise<Count> {
      const reply = await runScript(INCREMENT, key, [String(by), milliseconds(ttlSeconds)]);
      const [count, expiresInMs] = reply as [number, number];
      return { count, expiresInMs };
    },
  };
}
