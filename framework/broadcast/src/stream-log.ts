/** `StreamLog`: streams that outlive the connection, and the machine, of their readers. @module */
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import { type App, lastEventId, type LifespanFunction, type Logger, type Request } from "tsgi";
import {
  assertOptions,
  consoleLogger,
  expecting,
  FLAG,
  guardLogger,
  OBJECT,
  OPEN,
  type OpenableStream,
  type OptionRules,
  whole,
} from "tsgi/internals";
import { broadcastError } from "./errors.js";
import { lifespanOf } from "./lifespan.js";
import { BEAT_MS, type LogLimits, type LogStore, type StreamState, type StreamStatus } from "./log-store.js";
import { MemoryLogStore } from "./memory-log-store.js";
import { begin, duplicate, openRedis } from "./open-redis.js";
import { RedisLogStore } from "./redis-log-store.js";
import { StreamCursor, type StreamEvent } from "./stream-cursor.js";
import { alreadyStarted, notTheOwner } from "./stream-errors.js";
import { type Produce, StreamProducer } from "./stream-producer.js";
import { UnavailableError } from "./unavailable-error.js";

/** The options of `StreamLog`: one of `redis` and `memory`, and the limits. */
export interface StreamLogOptions {
  /** The URL of a Redis, or a client of `ioredis`, which the application opens and closes. */
  redis?: string | Redis;
  /** Keeps the events in this process, for tests and for one process. */
  memory?: boolean;
  /** Seconds for which a stream is kept after its last event. Defaults to 3,600. */
  keepSeconds?: number;
  /** The most events of a stream that are kept. The oldest are removed. Defaults to 10,000. */
  maxEvents?: number;
  /**
   * With `memory`, the most characters of all streams. The streams that ended first are removed, then the oldest events of a
   * stream that runs. Defaults to 67,108,864 (64 MiB). Redis has `maxmemory` instead.
   */
  maxBytes?: number;
  /** Receives the errors of producers. Defaults to lines on stderr. */
  logger?: Logger;
}

/** Restricts a stream to one user or tenant. */
export interface StreamOwner {
  /** Only calls with the same owner can read, stop or see the stream. By default every caller can. */
  owner?: string;
}

/** The place at which to begin, and the owner. */
export interface ReadOptions extends StreamOwner {
  /** The id of the last event that the reader has. Defaults to `Last-Event-ID` of the request, else to the beginning. */
  after?: string | number | null;
}

const OPTIONS: OptionRules<StreamLogOptions> = {
  redis: expecting("a URL or a client of ioredis", (value) => typeof value === "string" || value instanceof Object),
  memory: FLAG,
  keepSeconds: whole(1, 2_147_483),
  maxEvents: whole(1),
  maxBytes: whole(1),
  logger: OBJECT,
};

const ONLY_IN_MEMORY = expecting("left out with redis, which has its own limit", () => false);

/**
 * Keeps the events of streams, so that a client can continue after a disconnect, on any machine. A producer runs to its end
 * whether a client reads or not.
 *
 * @example
 * ```ts
 * import { App, Query, t } from "tsgi";
 * import { StreamLog } from "@tsgi/broadcast";
 *
 * const log = new StreamLog({ memory: true });
 * const app = new App({ lifespan: log.lifespan });
 * app.post("/answers/{id}", { statusCode: 202, params: { id: t.String() } }, async ({ id }) => {
 *   await log.start(id, async function* ({ signal }) {
 *     for (const word of ["It", "depends"]) if (!signal.aborted) yield word;
 *   });
 * });
 * app.get("/answers/{id}", { stream: "sse", params: { id: t.String() } }, async ({ id }) => log.read<string>(id));
 * ```
 */
export class StreamLog {
  readonly #store: LogStore;
  readonly #logger: Logger;
  readonly #producers = new Map<string, { producer: StreamProducer; ended: Promise<void> }>();
  #opening: Promise<void> | null = null;
  #beat: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @throws ConfigurationError for an unknown option, and without `redis` or `memory`. */
  constructor(options: StreamLogOptions) {
    assertOptions("new StreamLog()", options, OPTIONS);
    const { keepSeconds = 3_600, maxEvents = 10_000, redis, maxBytes } = options;
    if (redis !== undefined && maxBytes !== undefined) ONLY_IN_MEMORY("new StreamLog()", "maxBytes", maxBytes);
    this.#logger = guardLogger(options.logger ?? consoleLogger);
    this.#store = createStore(options, { keepMs: keepSeconds * 1_000, maxEvents });
  }

  /** For `new App({ lifespan })`: when the application stops, its producers are aborted, and their streams fail. */
  get lifespan(): LifespanFunction<App> {
    return lifespanOf(
      () => this.#open(),
      () => this.close(),
    );
  }

  /**
   * Registers a stream, and runs its producer in this process to its end.
   *
   * @param produce - Yields JSON values, or `event({ event, data })`. Its `signal` aborts when the stream is stopped.
   * @throws HTTPException 409 if a stream with the id exists.
   * @throws UnavailableError while the store is unavailable.
   */
  async start<Data>(id: string, produce: Produce<Data>, { owner }: StreamOwner = {}): Promise<void> {
    await this.#open();
    const stream = { id, token: randomUUID(), owner: owner ?? null };
    const producer = new StreamProducer(stream, this.#store, this.#logger);
    const registered = this.#register(producer);
    const ended = registered
      .then((unwatch) => producer.run(produce).finally(unwatch))
      .catch(() => {}) // the caller gets the error of the registration
      .finally(() => this.#producers.delete(stream.token));
    this.#producers.set(stream.token, { producer, ended });
    await registered;
    this.#assertOpen();
  }

  /**
   * Reads a stream: first the stored events, then the new ones, without a gap or a double. In a route with
   * `stream: "sse"`, return the result: it continues after `Last-Event-ID`, and is refused before the head.
   *
   * @throws HTTPException 404 for an unknown stream, 403 for another owner, 410 if the events were removed, 400 for an
   *   invalid event id: at the first step, or before the head of the response.
   * @throws StreamFailedError if the producer failed, after the last event.
   */
  read<Data = unknown>(id: string, { after, owner }: ReadOptions = {}): OpenableStream<StreamEvent<Data>> {
    const open = async (position: ReadOptions["after"]) => {
      await this.#open();
      return StreamCursor.open<Data>(this.#store, { id, after: position, owner: owner ?? null });
    };
    return {
      [OPEN]: (request: Request | undefined) => open(after ?? (request ? lastEventId(request) : null)),
      [Symbol.asyncIterator]: () => new LazyCursor(() => open(after)),
    };
  }

  /**
   * Stops a stream: aborts the signal of its producer, on the machine that runs it, and ends its readers.
   *
   * @returns `false` if it did not run.
   * @throws HTTPException 403 for another owner.
   */
  async stop(id: string, { owner }: StreamOwner = {}): Promise<boolean> {
    const state = await this.#stateOf(id, owner);
    // By its token: the stream may have expired meanwhile, and another owner may have started its id again.
    return state?.status === "running" && this.#store.end(id, state.token, "stopped");
  }

  /** The state of a stream. @throws HTTPException 403 for another owner. */
  async status(id: string, { owner }: StreamOwner = {}): Promise<StreamStatus> {
    return (await this.#stateOf(id, owner))?.status ?? "unknown";
  }

  /** Aborts the producers of this process, whose streams fail, and closes the connections. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#beat);
    const running = [...this.#producers.values()];
    for (const { producer } of running) producer.abort("failed", "The process shuts down");
    await Promise.all(running.map(({ ended }) => ended));
    if (this.#opening === null) return;
    await this.#opening.catch(() => {}); // a store that opens later would keep its connections
    await this.#store.close();
  }

  /** @returns Ends the watch that tells the producer of a stop. @throws HTTPException 409 if the stream exists. */
  async #register(producer: StreamProducer): Promise<() => void> {
    const { stream } = producer;
    if (!(await this.#store.create(stream))) throw alreadyStarted();
    // Without the watch, the producer learns with its next report that it was stopped.
    return this.#store.watch(stream.id, (hasEnded) => void (hasEnded && producer.renew())).catch(() => () => {});
  }

  async #stateOf(id: string, owner: string | undefined): Promise<StreamState | null> {
    await this.#open();
    const state = await this.#store.read(id, Number.MAX_SAFE_INTEGER - 1, 1);
    if (state !== null && state.owner !== null && state.owner !== owner) throw notTheOwner();
    return state;
  }

  async #open(): Promise<void> {
    this.#assertOpen();
    this.#opening ??= this.#store.open();
    this.#beat ??= setInterval(() => {
      for (const { producer } of this.#producers.values()) void producer.renew();
    }, BEAT_MS).unref();
    await this.#opening;
    this.#assertOpen();
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new UnavailableError(new Error("The stream log is closed."));
  }
}

/** @throws ConfigurationError without a store. */
function createStore({ redis, memory, maxBytes = 64 * 1024 * 1024 }: StreamLogOptions, limits: LogLimits): LogStore {
  if (typeof redis === "string") {
    const open = () => openRedis(redis);
    return new RedisLogStore({ listener: open, commander: open }, limits);
  }
  if (redis !== undefined) {
    const connections = {
      listener: async () => duplicate(redis),
      commander: async () => begin(redis),
      isShared: true,
    };
    return new RedisLogStore(connections, limits);
  }
  if (memory === true) return new MemoryLogStore({ ...limits, maxBytes });
  throw broadcastError("TSGI_STREAM_LOG_WITHOUT_STORE", memory);
}

/** A cursor that opens with the first step. */
class LazyCursor<Data> implements AsyncIterator<StreamEvent<Data>, undefined> {
  readonly #open: () => Promise<StreamCursor<Data>>;
  #cursor: Promise<StreamCursor<Data>> | null = null;

  constructor(open: () => Promise<StreamCursor<Data>>) {
    this.#open = open;
  }

  async next(): Promise<IteratorResult<StreamEvent<Data>, undefined>> {
    this.#cursor ??= this.#open();
    return (await this.#cursor).next();
  }

  async return(): Promise<IteratorResult<StreamEvent<Data>, undefined>> {
    const cursor = await this.#cursor?.catch(() => null);
    return cursor?.return() ?? { done: true, value: undefined };
  }
}
