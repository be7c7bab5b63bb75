/** Streams in Redis, each a stream of Redis and a hash with its state. @module */
import { RedisScript } from "tsgi/internals";
import { RedisBackplane, type RedisConnections } from "./redis-backplane.js";
import {
  BEAT_MS,
  type EndStatus,
  LEASE_MS,
  type LogLimits,
  type LogStore,
  type NewStream,
  type StoredEvent,
  type StreamState,
  type Wake,
} from "./log-store.js";

/** Before each id in the name of the channel that reports its changes. */
const CHANNEL_PREFIX = "tsgi:stream:";

/** Milliseconds that a running stream without events is kept at least. */
const RUNNING_MS = 60_000;

/** KEYS of each script: the state, the events, and the lease of the producer. */
const CREATE = new RedisScript(`
  if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
  redis.call('DEL', KEYS[2])
  redis.call('HSET', KEYS[1], 'status', 'running', 'token', ARGV[1], 'owner', ARGV[2], 'last', '0')
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  redis.call('SET', KEYS[3], '1', 'PX', ARGV[4])
  return 1`);

/** An event whose number is there already was written by the same command before its reply was lost. */
const APPEND = new RedisScript(`
  local state = redis.call('HMGET', KEYS[1], 'status', 'token', 'last')
  if state[1] ~= 'running' or state[2] ~= ARGV[1] then return 0 end
  if tonumber(ARGV[2]) <= tonumber(state[3]) then return 1 end
  redis.call('XADD', KEYS[2], 'MAXLEN', ARGV[4], ARGV[2] .. '-0', 'v', ARGV[3])
  redis.call('HSET', KEYS[1], 'last', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
  redis.call('PEXPIRE', KEYS[2], ARGV[5])
  redis.call('PUBLISH', ARGV[6], '"event"')
  return 1`);

const END = new RedisScript(`
  local state = redis.call('HMGET', KEYS[1], 'status', 'token')
  if state[1] ~= 'running' or state[2] ~= ARGV[1] then return 0 end
  redis.call('HSET', KEYS[1], 'status', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  redis.call('PEXPIRE', KEYS[2], ARGV[3])
  redis.call('DEL', KEYS[3])
  redis.call('PUBLISH', ARGV[4], '"end"')
  return 1`);

const RENEW = new RedisScript(`
  local state = redis.call('HMGET', KEYS[1], 'status', 'token')
  if state[1] ~= 'running' or state[2] ~= ARGV[1] then return 0 end
  redis.call('SET', KEYS[3], '1', 'PX', ARGV[2])
  if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[3])
    redis.call('PEXPIRE', KEYS[2], ARGV[3])
  end
  return 1`);

/** A stream that runs without the lease of its producer has failed, and the first reader that sees it informs the others. */
const READ = new RedisScript(`
  local state = redis.call('HMGET', KEYS[1], 'token', 'status', 'owner', 'last')
  if not state[1] then return nil end
  if state[2] == 'running' and redis.call('EXISTS', KEYS[3]) == 0 then
    state[2] = 'failed'
    redis.call('HSET', KEYS[1], 'status', 'failed')
    redis.call('PUBLISH', ARGV[3], '"end"')
  end
  local events = redis.call('XRANGE', KEYS[2], ARGV[1], '+', 'COUNT', ARGV[2])
  return { state[1], state[2], state[3], state[4], redis.call('XLEN', KEYS[2]), events }`);

type ReadReply = readonly [
  token: string,
  status: StreamState["status"],
  owner: string,
  last: string,
  length: number,
  events: readonly (readonly [id: string, fields: readonly [name: string, text: string]])[],
];

/** Those who watch a stream in this process. */
interface Watch {
  readonly wakes: Set<Wake>;
  readonly timer: NodeJS.Timeout;
}

export class RedisLogStore implements LogStore {
  readonly #backplane: RedisBackplane;
  readonly #limits: LogLimits;
  readonly #watches = new Map<string, Watch>();

  constructor(connections: RedisConnections, limits: LogLimits) {
    this.#backplane = new RedisBackplane(connections, CHANNEL_PREFIX);
    this.#limits = limits;
  }

  open(): Promise<void> {
    const wakeAll = () => [...this.#watches.keys()].forEach((id) => this.#wake(id, false));
    return this.#backplane.open({ message: (id, change) => this.#wake(id, change === "end"), restored: wakeAll });
  }

  async create({ id, token, owner }: NewStream): Promise<boolean> {
    const keepMs = Math.max(this.#limits.keepMs, RUNNING_MS);
    return (await this.#run(CREATE, id, token, ownerText(owner), keepMs, LEASE_MS)) === 1;
  }

  async append({ id, token }: NewStream, { number, text }: StoredEvent): Promise<boolean> {
    const { maxEvents, keepMs } = this.#limits;
    const ttlMs = Math.max(keepMs, RUNNING_MS);
    return (await this.#run(APPEND, id, token, number, text, maxEvents, ttlMs, channelOf(id))) === 1;
  }

  async end(id: string, token: string, status: EndStatus): Promise<boolean> {
    return (await this.#run(END, id, token, status, this.#limits.keepMs, channelOf(id))) === 1;
  }

  async renew({ id, token }: NewStream): Promise<boolean> {
    return (await this.#run(RENEW, id, token, LEASE_MS, RUNNING_MS)) === 1;
  }

  async read(id: string, after: number, limit: number): Promise<StreamState | null> {
    const reply = (await this.#run(READ, id, `${after + 1}-0`, limit, channelOf(id))) as ReadReply | null;
    if (reply === null) return null;
    const [token, status, owner, lastText, length, entries] = reply;
    const last = Number(lastText);
    const events = entries.map(([entry, [, text]]) => ({ number: Number(entry.split("-", 1)[0]), text }));
    return { token, status, owner: ownerOf(owner), last, first: last - length + 1, events };
  }

  async watch(id: string, wake: Wake): Promise<() => void> {
    const watch = this.#watches.get(id) ?? this.#startWatch(id);
    watch.wakes.add(wake);
    const end = () => {
      if (!watch.wakes.delete(wake) || watch.wakes.size > 0) return;
      clearInterval(watch.timer);
      this.#watches.delete(id);
      this.#backplane.unsubscribe(id);
    };
    try {
      await this.#backplane.subscribe(id);
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  async close(): Promise<void> {
    for (const { timer } of this.#watches.values()) clearInterval(timer);
    await this.#backplane.close();
  }

  /** A message may be lost, and a producer that is killed sends no message, so all readers look from time to time. */
  #startWatch(id: string): Watch {
    const timer = setInterval(() => this.#wake(id, false), BEAT_MS).unref();
    const watch: Watch = { wakes: new Set(), timer };
    this.#watches.set(id, watch);
    return watch;
  }

  #wake(id: string, hasEnded: boolean): void {
    for (const wake of this.#watches.get(id)?.wakes ?? []) wake(hasEnded);
  }

  #run(script: RedisScript, id: string, ...values: readonly (string | number)[]): Promise<unknown> {
    // The braces keep the keys of a stream on one machine of a cluster.
    const keys = ["state", "events", "lease"].map((part) => `tsgi:stream:{${hashTag(id)}}:${part}`);
    return this.#backplane.command((client) =>
      script.run((command, text) => client.call(command, text, keys.length, ...keys, ...values)),
    );
  }
}

const channelOf = (id: string) => CHANNEL_PREFIX + id;

/** Redis ends the tag at the first `}`, and ignores an empty tag. */
const hashTag = (id: string) => id.replaceAll("%", "%25").replaceAll("}", "%7D");

/** The owner may be the empty text, which differs from a stream without an owner. */
const ownerText = (owner: string | null) => (owner === null ? "" : `=${owner}`);
const ownerOf = (text: string) => (text === "" ? null : text.slice(1));
