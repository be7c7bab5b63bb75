/** Jobs in PostgreSQL, by pg-boss: the connection, and the jobs that are written. @module */
import { randomUUID } from "node:crypto";
import type { ConstructorOptions, Db, PgBoss, SendOptions } from "pg-boss";
import { ConfigurationError, HTTPException, type Logger } from "tsgi";
import { ConnectError, describeError, isUnavailable, postgresqlStart } from "tsgi/internals";
import type { JobsDatabase, SQLClient } from "./control.js";
import type { Definition, Envelope } from "./definition.js";
import { executorOf } from "./executor.js";
import { loadPgBoss, type PgBossModule } from "./library.js";
import { type EnqueueOptions, MAX_WAIT_SECONDS, type PublishOptions, type Rules } from "./options.js";
import { type StoredSubscriber, Subscriptions } from "./subscriptions.js";

/** The queue of occurrences of schedules, which a worker turns into jobs. */
export const OCCURRENCES = "tsgi.occurrences";

/** Seconds after which a job without a sign of life from its worker is given to another one. pg-boss allows no less. */
export const HEARTBEAT_SECONDS = 10;

/** Seconds that a finished job is kept for `tsgi jobs list`. */
const KEEP_DONE_SECONDS = 24 * 3_600;

/** Seconds that a dead job is kept. */
export const KEEP_DEAD_SECONDS = 14 * 24 * 3_600;

/** Times that a job may lose its worker, or be given back. Without a limit, a job that ends its process would run indefinitely. */
const MAX_INTERRUPTIONS = 100;

/** pg-boss's own timeout is the second line: it must not come before ours. */
const GRACE_SECONDS = 60;

/** The options with which a job is written. A run that fails is counted in its envelope, and `retryLimit` bounds the rest. */
export function sendOptions(
  rules: Rules,
  options: Pick<EnqueueOptions, "delaySeconds" | "key" | "priority">,
): SendOptions {
  const { delaySeconds = 0, key, priority = 0 } = options;
  return {
    priority,
    // The policy of the queues is one job for each key, so that a job without one gets its own.
    singletonKey: key === undefined ? randomUUID() : `key:${key}`,
    ...(delaySeconds > 0 ? { startAfter: String(delaySeconds) } : {}),
    expireInSeconds: Math.ceil(rules.timeoutSeconds) + GRACE_SECONDS,
    retryLimit: rules.attempts + MAX_INTERRUPTIONS,
    retryDelay: 0,
    retryBackoff: false,
    retentionSeconds: MAX_WAIT_SECONDS,
    deleteAfterSeconds: KEEP_DONE_SECONDS,
    heartbeatSeconds: HEARTBEAT_SECONDS,
  };
}

/** The place of the database, and who hears of its errors. */
export interface StoreSettings {
  readonly url: string;
  readonly schema: string;
  /** The name under which subscribers are stored; `null` in a program without a name. */
  readonly program: string | null;
  readonly logger: Logger;
}

/** A connection of pg-boss, started. */
export interface Connection {
  readonly boss: PgBoss;
  readonly library: PgBossModule;
  /** pg-boss's own connections. */
  readonly db: Db;
}

/**
 * Connects, creates the tables if they are missing, and the queues of the jobs.
 *
 * @throws ConnectError when it cannot, and ConfigurationError for a subscriber of another program.
 */
export async function connect(
  settings: StoreSettings,
  definitions: readonly Definition[],
  options: ConstructorOptions,
): Promise<Connection> {
  const { url, schema, logger } = settings;
  const library = await loadPgBoss();
  const boss = new library.PgBoss({
    connectionString: url,
    schema,
    application_name: "tsgi-jobs",
    connectionTimeoutMillis: 5_000,
    openTelemetry: { enabled: false },
    ...options,
  });
  const outages = new OutageLog(logger);
  boss.on("error", (error) => outages.report(error));
  try {
    await boss.start();
    const connection = { boss, library, db: boss.getDb() };
    await prepare(connection, definitions, settings);
    return connection;
  } catch (error) {
    await boss.stop({ graceful: false }).catch(() => {});
    if (error instanceof ConfigurationError) throw error;
    throw isUnavailable(error) || describeError(error).code !== "" ? connectError(url, error) : error;
  }
}

/** A queue that exists stays as it is. */
async function createQueue(boss: PgBoss, name: string): Promise<void> {
  await boss.createQueue(name, { policy: "exclusive" });
}

/** Creates the queues of jobs, and stores those that are subscribers. */
async function prepare(
  { boss, db }: Connection,
  definitions: readonly Definition[],
  { program, schema }: StoreSettings,
): Promise<void> {
  for (const { name } of definitions) await createQueue(boss, name);
  const subscribers = definitions.filter(({ event }) => event !== null);
  if (program !== null && subscribers.length > 0) await new Subscriptions(db, schema).store(subscribers, program);
}

/** Calls a function in a transaction of pg-boss's own connections. It is rolled back if the function throws. */
export async function inTransaction<T>(db: Db, work: (db: Db) => Promise<T>): Promise<T> {
  const transaction = await db.beginTransaction?.();
  if (transaction === undefined) throw new TypeError("pg-boss has no separate connections.");
  try {
    const result = await work(transaction.db);
    await transaction.commit();
    return result;
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}

/** Calls a function whose statements a transaction keeps together, even if the caller catches its error and commits. */
async function inSavepoint<T>(db: Db, work: () => Promise<T>): Promise<T> {
  await db.executeSql("SAVEPOINT tsgi_publish");
  try {
    const result = await work();
    await db.executeSql("RELEASE SAVEPOINT tsgi_publish");
    return result;
  } catch (error) {
    await db.executeSql("ROLLBACK TO SAVEPOINT tsgi_publish").catch(() => {}); // the connection is lost
    throw error;
  }
}

function connectError(url: string, cause: unknown): ConnectError {
  const { hostname, port } = URL.canParse(url) ? new URL(url) : { hostname: "", port: "" };
  const host = decodeURIComponent(hostname) || "localhost";
  const server = {
    name: "PostgreSQL",
    host,
    port: Number(port || 5432),
    startCommand: postgresqlStart(),
    pingCommand: `pg_isready -h ${host} -p ${port || 5432}`,
  };
  return isUnavailable(cause) ? new ConnectError(server, cause) : new ConnectError(server, cause, "Check the URL");
}

/** Logs the first error of an outage, and not its repetitions. */
export class OutageLog {
  readonly #logger: Logger;
  #last = "";
  #lastAt = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  report(error: unknown): void {
    const { code, message } = describeError(error);
    const text = isUnavailable(error) ? "unavailable" : `${code} ${message}`;
    const now = performance.now();
    if (text === this.#last && now - this.#lastAt < 60_000) return;
    [this.#last, this.#lastAt] = [text, now];
    const what = isUnavailable(error) ? "The database of the jobs is unavailable" : "pg-boss reports an error";
    this.#logger.error({ err: error }, `${what}: ${message}`);
  }
}

/** The jobs that a statement of pg-boss has changed. Its types leave them out. */
export function changedBy(response: object): { readonly count: number; readonly ids: readonly string[] | null } {
  const { affected, settled } = response as { affected?: unknown; settled?: unknown };
  return {
    count: typeof affected === "number" ? affected : 0,
    ids: Array.isArray(settled) ? settled.map(String) : null,
  };
}

/** The statements of a connection or a transaction, in the form of `pg`. */
function clientOf(db: Db): SQLClient {
  return { query: (text, values = []) => db.executeSql(text, [...values]) };
}

/** Enqueues jobs, with a connection that is opened at the first use. */
export class Sender implements JobsDatabase {
  readonly #settings: StoreSettings;
  readonly #definitions: () => Iterable<Definition>;
  #connecting: Promise<Connection> | null = null;
  /** The jobs whose queues exist, and that are stored if they are subscribers. */
  readonly #prepared = new Map<Definition, Promise<void>>();
  /** Statements on the own connections: they would never settle if these were closed. */
  readonly #sending = new Set<Promise<unknown>>();

  /** @param definitions - Lists the jobs that are defined. */
  constructor(settings: StoreSettings, definitions: () => Iterable<Definition>) {
    this.#settings = settings;
    this.#definitions = definitions;
  }

  /** Connects, creates the queues of all jobs, and stores all subscribers. @throws ConnectError when it cannot. */
  async open(): Promise<void> {
    await this.#prepare(await this.#connect(), this.#definitions());
  }

  async #connect(): Promise<Connection> {
    this.#connecting ??= connect(this.#settings, [], { supervise: false, schedule: false, registerInstance: false });
    try {
      return await this.#connecting;
    } catch (error) {
      this.#connecting = null;
      throw error;
    }
  }

  async close(): Promise<void> {
    const connecting = this.#connecting;
    this.#connecting = null;
    this.#prepared.clear();
    const connection = await connecting?.catch(() => null);
    await Promise.allSettled(this.#sending);
    await connection?.boss.stop({ graceful: false });
  }

  /** The connection, for commands and metrics. */
  connection(): Promise<Connection> {
    return this.#connect();
  }

  /** The subscribers of all programs. */
  async subscribers(): Promise<readonly StoredSubscriber[]> {
    const { db } = await this.#connect();
    return new Subscriptions(db, this.#settings.schema).all();
  }

  /** Writes a job. @returns Its id; `null` if a job with its key waits or runs. */
  enqueue(definition: Definition, envelope: Envelope, options: EnqueueOptions): Promise<string | null> {
    return this.#track(options, async (connection, db) => {
      await this.#prepare(connection, [definition]);
      const send = sendOptions(definition.rules, options);
      return connection.boss.send(definition.name, envelope, db === null ? send : { ...send, db });
    });
  }

  /**
   * Writes a job for each subscriber of an event: either all of the jobs or no job.
   *
   * @param subscribers - The subscribers of this program, which may not be stored yet.
   * @returns The names of the subscribers that have a job of it: not those that have one with its key already.
   */
  publish(
    event: string,
    subscribers: readonly Definition[],
    envelopeOf: (rules: Rules) => Envelope,
    options: PublishOptions,
  ): Promise<readonly string[]> {
    return this.#track(options, async (connection, db) => {
      await this.#prepare(connection, subscribers);
      const subscriptions = new Subscriptions(connection.db, this.#settings.schema);
      const send = async (within: Db) => {
        const names: string[] = [];
        for (const { name, rules } of await subscriptions.of(event, within)) {
          const how = { ...sendOptions(rules, options), db: within };
          if ((await connection.boss.send(name, envelopeOf(rules), how)) !== null) names.push(name);
        }
        return names;
      };
      return db === null ? inTransaction(connection.db, send) : inSavepoint(db, () => send(db));
    });
  }

  query(text: string, values?: readonly unknown[]): Promise<{ readonly rows: readonly unknown[] }> {
    return this.#track({}, ({ db }) => clientOf(db).query(text, values));
  }

  transaction<T>(tx: object | undefined, work: (client: SQLClient) => Promise<T>): Promise<T> {
    return this.#track(tx === undefined ? {} : { tx }, async (connection, db) =>
      db === null ? inTransaction(connection.db, (own) => work(clientOf(own))) : work(clientOf(db)),
    );
  }

  /** Remembers the statements on the own connections. */
  #track<T>(
    { tx }: { readonly tx?: object },
    write: (connection: Connection, db: Db | null) => Promise<T>,
  ): Promise<T> {
    const sent = this.#write(tx, write);
    if (tx !== undefined) return sent;
    this.#sending.add(sent);
    return sent.finally(() => this.#sending.delete(sent));
  }

  /** @param write - Gets the caller's transaction, if there is one. */
  async #write<T>(tx: object | undefined, write: (connection: Connection, db: Db | null) => Promise<T>): Promise<T> {
    try {
      const connection = await this.#connect();
      return await write(connection, tx === undefined ? null : executorOf(tx, connection.library));
    } catch (error) {
      // In the caller's transaction the error is the caller's: a library may try the transaction again.
      if (tx === undefined && (isUnavailable(error) || error instanceof ConnectError)) {
        throw new HTTPException(503, undefined, { headers: { "Retry-After": "1" }, cause: error });
      }
      throw error;
    }
  }

  async #prepare(connection: Connection, definitions: Iterable<Definition>): Promise<void> {
    const needed = [...definitions];
    const missing = needed.filter((definition) => !this.#prepared.has(definition));
    if (missing.length > 0) {
      const prepared = prepare(connection, missing, this.#settings);
      for (const definition of missing) this.#prepared.set(definition, prepared);
      prepared.catch(() => {
        for (const definition of missing) this.#prepared.delete(definition);
      });
    }
    for (const definition of needed) await this.#prepared.get(definition);
  }
}
