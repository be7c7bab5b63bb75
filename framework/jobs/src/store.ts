/** Jobs in PostgreSQL, by pg-boss: the connection, and the jobs that are written. @module */
import { randomUUID } from "node:crypto";
import type { ConstructorOptions, Db, PgBoss, SendOptions } from "pg-boss";
import { HTTPException, type Logger } from "tsgi";
import { ConnectError, describeError, isUnavailable, postgresqlStart } from "tsgi/internals";
import type { Definition, Envelope } from "./definition.js";
import { executorOf } from "./executor.js";
import { loadPgBoss, type PgBossModule } from "./library.js";
import { type EnqueueOptions, MAX_WAIT_SECONDS, type Rules } from "./options.js";

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
  readonly logger: Logger;
}

/** A connection of pg-boss, started. */
export interface Connection {
  readonly boss: PgBoss;
  readonly library: PgBossModule;
  /** pg-boss's own connections. */
  readonly db: Db;
}

/** Connects, creates the tables if they are missing, and the queues of the jobs. @throws ConnectError when it cannot. */
export async function connect(
  { url, schema, logger }: StoreSettings,
  names: Iterable<string>,
  options: ConstructorOptions,
): Promise<Connection> {
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
    for (const name of names) await createQueue(boss, name);
  } catch (error) {
    await boss.stop({ graceful: false }).catch(() => {});
    throw isUnavailable(error) || describeError(error).code !== "" ? connectError(url, error) : error;
  }
  return { boss, library, db: boss.getDb() };
}

/** A queue that exists stays as it is. */
export async function createQueue(boss: PgBoss, name: string): Promise<void> {
  await boss.createQueue(name, { policy: "exclusive" });
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

/** Enqueues jobs, with a connection that is opened at the first use. */
export class Sender {
  readonly #settings: StoreSettings;
  readonly #names: () => Iterable<string>;
  #connecting: Promise<Connection> | null = null;
  /** The queues that exist. */
  readonly #queues = new Map<string, Promise<void>>();
  /** Statements on the own connections: they would never settle if these were closed. */
  readonly #sending = new Set<Promise<unknown>>();

  /** @param names - Lists the jobs that are defined. */
  constructor(settings: StoreSettings, names: () => Iterable<string>) {
    this.#settings = settings;
    this.#names = names;
  }

  /** Connects, and creates the queues of all jobs. @throws ConnectError when it cannot. */
  async open(): Promise<void> {
    const connection = await this.#connect();
    for (const name of this.#names()) await this.#createQueue(connection, name);
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
    this.#queues.clear();
    const connection = await connecting?.catch(() => null);
    await Promise.allSettled(this.#sending);
    await connection?.boss.stop({ graceful: false });
  }

  /** The connection, for commands and metrics. */
  connection(): Promise<Connection> {
    return this.#connect();
  }

  /** Writes a job. @returns Its id; `null` if a job with its key waits or runs. */
  enqueue(definition: Definition, envelope: Envelope, options: EnqueueOptions): Promise<string | null> {
    const sent = this.#send(definition, envelope, options);
    if (options.tx !== undefined) return sent;
    this.#sending.add(sent);
    return sent.finally(() => this.#sending.delete(sent));
  }

  async #send(definition: Definition, envelope: Envelope, options: EnqueueOptions): Promise<string | null> {
    try {
      const connection = await this.#connect();
      await this.#createQueue(connection, definition.name);
      const { boss, library } = connection;
      const db = options.tx === undefined ? undefined : executorOf(options.tx, library);
      const send = sendOptions(definition.rules, options);
      return await boss.send(definition.name, envelope, db === undefined ? send : { ...send, db });
    } catch (error) {
      // In the caller's transaction the error is the caller's: a library may try the transaction again.
      if (options.tx === undefined && (isUnavailable(error) || error instanceof ConnectError)) {
        throw new HTTPException(503, undefined, { headers: { "Retry-After": "1" }, cause: error });
      }
      throw error;
    }
  }

  async #createQueue({ boss }: Connection, name: string): Promise<void> {
    let created = this.#queues.get(name);
    if (!created) this.#queues.set(name, (created = createQueue(boss, name)));
    try {
      await created;
    } catch (error) {
      this.#queues.delete(name);
      throw error;
    }
  }
}
