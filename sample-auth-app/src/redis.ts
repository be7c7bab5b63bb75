import { Redis } from "ioredis";

import { ConnectError, describe, quoted } from "./connect-error.js";
import type { Log } from "./logging.js";

/** A command that has no answer by then has none: the connection is given up, and what it was for goes on without. */
const SILENCE_MS = 40;

/**
 * Connects to Redis, and goes on trying for as long as the process lives. While it is away commands fail at once, so
 * nobody waits for it.
 *
 * @param silenceMs how long a command waits for its answer
 */
export async function openRedis(url: string, log: Log, silenceMs = SILENCE_MS): Promise<Redis> {
  const redis = new ImpatientRedis(url, {
    lazyConnect: true,
    connectTimeout: 1_000,
    disconnectTimeout: 10, // what a silent server does not answer in time either
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 100, 1_000),
  });
  redis.silenceMs = silenceMs;
  let isThere: boolean | null = null;
  let lastError: Error | undefined;
  redis.on("ready", () => {
    isThere = true;
    lastError = undefined;
    log.info({}, "redis is there: login attempts are counted for all replicas");
  });
  redis.on("error", (error) => (lastError = error));
  redis.on("reconnecting", () => {
    if (isThere !== false) {
      log.warn({ err: connectErrorOf(redis, lastError) }, "redis is away: login attempts are counted in this process");
    }
    isThere = false;
  });
  await redis.connect().catch(() => {}); // an event tells
  return redis;
}

function connectErrorOf({ options }: Redis, cause: unknown): ConnectError {
  const { path, host = "localhost", port = 6379 } = options;
  const place = path === undefined ? `-h ${quoted(host)} -p ${port}` : `-s ${quoted(path)}`;
  const server = {
    name: "Redis",
    host: path ?? host,
    port,
    variable: "REDIS_URL",
    startCommand: path === undefined ? `redis-server --port ${port}` : `redis-server --unixsocket ${quoted(path)}`,
    pingCommand: `redis-cli ${place} ping`,
  };
  const isLocked = /^(?:NOAUTH|WRONGPASS)/.test(describe(cause).message);
  return new ConnectError(server, cause ?? "no answer", isLocked ? "Write its password into REDIS_URL" : undefined);
}

/**
 * Gives its connection up when an answer stays away. The client's own time-outs count what this process was busy with as
 * Redis's silence; this one looks once more after the loop has read what has come.
 */
class ImpatientRedis extends Redis {
  silenceMs = SILENCE_MS;
  #isGivenUp = false;

  override sendCommand(...[command, stream]: Parameters<Redis["sendCommand"]>): unknown {
    let isSettled = false;
    const timer = setTimeout(() => setImmediate(() => isSettled || this.#giveUp()), this.silenceMs);
    const settle = (): void => {
      isSettled = true;
      clearTimeout(timer);
    };
    command.promise.then(settle, settle);
    return super.sendCommand(command, stream);
  }

  /** Of all commands that wait on a connection, the first ends it. */
  #giveUp(): void {
    if (!this.#isGivenUp && (this.status === "ready" || this.status === "connect")) {
      this.#isGivenUp = true;
      this.once("close", () => (this.#isGivenUp = false));
      this.disconnect(true);
    }
  }
}
