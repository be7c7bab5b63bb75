/** The backplane on PostgreSQL: `LISTEN` and `NOTIFY`. @module */
import type { Client } from "pg";
import { missingPackage } from "tsgi/internals";
import type { Backplane, BackplaneEvents } from "./backplane.js";
import { Burst } from "./burst.js";
import { ConnectionState } from "./connection-state.js";
import { broadcastError } from "./errors.js";
import { inTime, UnavailableError } from "./unavailable-error.js";

/** One channel for all topics: the name of a channel has at most 63 bytes. */
const CHANNEL = "tsgi_broadcast";

/** A payload has fewer bytes. @see {@link https://www.postgresql.org/docs/current/sql-notify.html | PostgreSQL, NOTIFY} */
const BYTES_LIMIT = 8_000;

/** Milliseconds between two queries of a connection that only listens, so that a dead one is noticed. */
const PING_MS = 5_000;

const MAX_PAUSE_MS = 1_000;

/**
 * Connects processes by PostgreSQL, with one connection for each process. It must be a direct connection: a pooler that
 * shares connections between transactions, such as PgBouncer, drops `LISTEN`. Each process receives the messages of all
 * topics. A message with its topic must be smaller than 8,000 bytes. Uses the package `pg`.
 *
 * @param url - `postgresql://user@host:5432/database`.
 * @example
 * ```ts
 * import { Broadcast, postgresBackplane } from "@tsgi/broadcast";
 *
 * const broadcast = new Broadcast({ backplane: postgresBackplane("postgresql://localhost/app") });
 * ```
 */
export function postgresBackplane(url: string): Backplane {
  return new PostgresBackplane(url);
}

/** A payload that waits for the query before it. */
interface Waiting {
  readonly payload: string;
  /** Its publisher has been told that it was not sent. */
  isGivenUp: boolean;
}

/** The messages of one query. */
interface Batch {
  readonly waiting: Waiting[];
  readonly sent: Promise<unknown>;
}

const NOTIFY = "SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload";

class PostgresBackplane implements Backplane {
  readonly #url: string;
  readonly #state = new ConnectionState();
  #client: Client | null = null;
  /** Settles after the last query: a client executes one at a time. */
  #idle: Promise<unknown> = Promise.resolve();
  /** Messages that are published meanwhile are sent in one query. */
  #batch: Batch | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #isFirst = true;

  constructor(url: string) {
    this.#url = url;
  }

  async open(events: BackplaneEvents): Promise<void> {
    const library = await import("pg").catch(missingPackage(() => broadcastError("TSGI_MISSING_BROADCAST_POSTGRES")));
    const create = () => new library.default.Client({ connectionString: this.#url, connectionTimeoutMillis: 1_000 });
    this.#connect(create, events, 0);
  }

  async subscribe(): Promise<void> {
    await inTime(this.#state.usable);
  }

  unsubscribe(): void {}

  async publish(topic: string, text: string): Promise<void> {
    const payload = `[${JSON.stringify(topic)},${text}]`;
    const bytes = Buffer.byteLength(payload);
    if (bytes >= BYTES_LIMIT) {
      throw new RangeError(
        `The message for ${JSON.stringify(topic.slice(0, 100))} has ${bytes} bytes with its topic. ` +
          `PostgreSQL accepts less than ${BYTES_LIMIT}. Send an id, and let subscribers read the data.`,
      );
    }
    const waiting: Waiting = { payload, isGivenUp: false };
    try {
      await inTime(this.#state.usable.then(() => this.#send(waiting)));
    } catch (error) {
      waiting.isGivenUp = true;
      throw error;
    }
  }

  #send(waiting: Waiting): Promise<unknown> {
    if (this.#batch === null) {
      const batch: Waiting[] = [];
      const sent = this.#query((client) => {
        this.#batch = null;
        const payloads = batch.filter(({ isGivenUp }) => !isGivenUp).map((one) => one.payload);
        return client.query(NOTIFY, [CHANNEL, payloads]);
      });
      this.#batch = { waiting: batch, sent };
      const drop = () => {
        if (this.#batch?.waiting === batch) this.#batch = null;
      };
      sent.then(drop, drop);
    }
    this.#batch.waiting.push(waiting);
    return this.#batch.sent;
  }

  #query(run: (client: Client) => Promise<unknown>): Promise<unknown> {
    const result = this.#idle.then(async () => {
      await this.#state.usable;
      if (this.#client === null) throw new UnavailableError();
      return run(this.#client);
    });
    this.#idle = result.catch(() => {});
    return result;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#client?.end().catch(() => {});
  }

  #connect(create: () => Client, events: BackplaneEvents, attempt: number): void {
    const client = create();
    this.#client = client;
    let lastError: unknown = new Error("The connection to PostgreSQL was closed.");
    let isOver = false;
    const retry = () => {
      if (isOver) return;
      isOver = true;
      clearTimeout(this.#timer);
      this.#state.lost(lastError);
      void client.end().catch(() => {});
      if (this.#isClosed) return;
      const pauseMs = Math.min(50 * 2 ** attempt, MAX_PAUSE_MS);
      this.#timer = setTimeout(() => this.#connect(create, events, attempt + 1), pauseMs);
    };
    client.on("error", (error) => {
      lastError = error;
      retry();
    });
    client.on("end", retry);
    const burst = new Burst(events);
    client.on("notification", ({ payload = "" }) => {
      const [topic, message] = parse(payload);
      if (topic !== null) burst.add(topic, message);
    });
    this.#listen(client, events).then(
      () => this.#ping(client, retry),
      (error: unknown) => {
        lastError = error;
        retry();
      },
    );
  }

  async #listen(client: Client, events: BackplaneEvents): Promise<void> {
    await client.connect();
    await client.query(`LISTEN ${CHANNEL}`);
    this.#state.ready();
    if (!this.#isFirst) events.restored();
    this.#isFirst = false;
  }

  #ping(client: Client, retry: () => void): void {
    if (this.#isClosed || this.#client !== client) return;
    const look = async () => {
      try {
        await inTime(this.#query(() => client.query("SELECT 1")));
        this.#ping(client, retry);
      } catch {
        retry();
      }
    };
    this.#timer = setTimeout(() => void look(), PING_MS).unref();
  }
}

/** Another program may notify the channel with any text. */
function parse(payload: string): readonly [topic: string | null, message: unknown] {
  try {
    const [topic, message] = JSON.parse(payload) as readonly unknown[];
    return typeof topic === "string" ? [topic, message] : [null, null];
  } catch {
    return [null, null];
  }
}
