/** The backplane on Redis: publish and subscribe. @module */
import type { Redis } from "ioredis";
import type { Backplane, BackplaneEvents } from "./backplane.js";
import { Burst } from "./burst.js";
import { ConnectionState } from "./connection-state.js";
import { openRedis } from "./open-redis.js";
import { inTime, UnavailableError } from "./unavailable-error.js";

/** Before each topic, because other programs may share the server. */
const CHANNEL_PREFIX = "tsgi:broadcast:";

/** Milliseconds between two pings of the connection that only listens, so that a dead one is noticed. */
const PING_MS = 5_000;

/** Topics in one command: a server reads a command as a whole. */
const TOPICS_PER_COMMAND = 1_000;

/**
 * Connects processes by Redis, with two connections for each process. After an outage it reconnects and subscribes again.
 * Uses the package `ioredis`.
 *
 * @param url - `redis://host:6379`, `rediss://` for TLS, or the path of a socket.
 * @example
 * ```ts
 * import { Broadcast, redisBackplane } from "@tsgi/broadcast";
 *
 * const broadcast = new Broadcast({ backplane: redisBackplane("redis://127.0.0.1:6379") });
 * ```
 */
export function redisBackplane(url: string): Backplane {
  return new RedisBackplane({ listener: () => openRedis(url), commander: () => openRedis(url) }, CHANNEL_PREFIX);
}

/** Makes the two connections: a client that has subscribed can send no other commands. */
export interface RedisConnections {
  listener(): Promise<Redis>;
  commander(): Promise<Redis>;
  /** `true` if the application closes the connection of the commands. */
  readonly isShared?: boolean;
}

/** The topics of a process on Redis, and its commands. */
export class RedisBackplane implements Backplane {
  readonly #connections: RedisConnections;
  readonly #prefix: string;
  readonly #listening = new ConnectionState();
  readonly #commanding = new ConnectionState();
  /** The topics that this process needs, each with the command that subscribes it on the present connection. */
  readonly #topics = new Map<string, Promise<unknown> | null>();
  #listener: Redis | null = null;
  #commander: Redis | null = null;
  #pings: NodeJS.Timeout | undefined;

  /** @param prefix - Before each topic in the name of its channel. */
  constructor(connections: RedisConnections, prefix: string) {
    this.#connections = connections;
    this.#prefix = prefix;
  }

  async open(events: BackplaneEvents): Promise<void> {
    const [listener, commander] = await Promise.all([this.#connections.listener(), this.#connections.commander()]);
    this.#listener = listener;
    this.#commander = commander;
    watch(commander, this.#commanding, async () => {});
    let isFirst = true;
    watch(listener, this.#listening, async () => {
      await this.#subscribeAll(listener);
      // A subscriber that is informed of the gap may publish.
      if (!isFirst) void this.#commanding.restored.then(() => events.restored());
      isFirst = false;
    });
    listener.on("close", () => {
      for (const topic of this.#topics.keys()) this.#topics.set(topic, null);
    });
    const burst = new Burst(events);
    listener.on("message", (channel, text) => {
      const message = parse(text);
      if (message !== undefined) burst.add(channel.slice(this.#prefix.length), message);
    });
    this.#pings = setInterval(() => void listener.ping().catch(() => {}), PING_MS).unref();
  }

  async subscribe(topic: string): Promise<void> {
    if (!this.#topics.has(topic)) this.#topics.set(topic, null);
    await inTime(this.#listening.usable.then(() => this.#standing(topic)));
  }

  unsubscribe(topic: string): void {
    if (this.#topics.delete(topic)) this.#listener?.unsubscribe(this.#prefix + topic).catch(() => {});
  }

  async publish(topic: string, text: string): Promise<void> {
    await this.command((client) => client.publish(this.#prefix + topic, text));
  }

  /** Sends a command. @throws UnavailableError within a second. */
  command<T>(run: (client: Redis) => Promise<T>): Promise<T> {
    return inTime(
      this.#commanding.usable.then(() => {
        if (this.#commander === null) throw new UnavailableError();
        return run(this.#commander);
      }),
    );
  }

  async close(): Promise<void> {
    clearInterval(this.#pings);
    this.#listener?.disconnect();
    if (this.#connections.isShared !== true) this.#commander?.disconnect();
  }

  /** The command is sent once for each connection. A topic without subscribers stays unsubscribed. */
  #standing(topic: string): Promise<unknown> {
    const sent = this.#topics.get(topic);
    if (sent === undefined) return Promise.resolve();
    if (sent !== null) return sent;
    const command = this.#listener?.subscribe(this.#prefix + topic) ?? Promise.resolve();
    this.#topics.set(topic, command);
    command.catch(() => {
      if (this.#topics.get(topic) === command) this.#topics.set(topic, null);
    });
    return command;
  }

  async #subscribeAll(listener: Redis): Promise<void> {
    const topics = [...this.#topics.keys()];
    for (let start = 0; start < topics.length; start += TOPICS_PER_COMMAND) {
      // Without those that were unsubscribed while the command before it ran.
      const some = topics.slice(start, start + TOPICS_PER_COMMAND).filter((topic) => this.#topics.has(topic));
      if (some.length === 0) continue;
      const command = listener.subscribe(...some.map((topic) => this.#prefix + topic));
      for (const topic of some) this.#topics.set(topic, command);
      await command;
    }
  }
}

/** Follows a connection. It is usable once `prepare` has settled. */
function watch(client: Redis, state: ConnectionState, prepare: () => Promise<void>): void {
  let lastError: unknown = new Error("The connection to Redis was closed.");
  client.on("error", (error) => (lastError = error));
  client.on("close", () => state.lost(lastError));
  const begin = () => {
    prepare().then(
      () => state.ready(),
      () => {
        if (client.status === "ready") client.disconnect(true);
      },
    );
  };
  client.on("ready", begin);
  if (client.status === "ready") begin();
}

/** Another program may write any text to the channel. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
