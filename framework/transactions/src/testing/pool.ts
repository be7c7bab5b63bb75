/** The pool of a sandbox: one connection of `pg`, whose transactions are savepoints. @module */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { callbackify } from "node:util";
import { Pool, type PoolClient, type PoolConfig } from "pg";
import { consoleLogger, describeError } from "tsgi/internals";
import { ENDS, intercept, isCallback, type Query, settingsOf } from "../connection.js";
import { transactionError } from "../errors.js";
import { RolledBackError } from "../patience.js";
import type { Statement } from "../statement.js";
import { CREATE_JOBS } from "./jobs.js";
import { type Copy, copyPostgreSQL, urlOf } from "./postgresql-copies.js";
import { PostgreSQLDialect } from "./postgresql-dialect.js";
import type { SandboxConnection } from "./sandbox.js";
import { type AdapterTransaction, Session } from "./session.js";
import { type Frame, Turns } from "./turns.js";

/** The migrations of a database. */
export interface PoolMigrations {
  readonly migrations: string;
  readonly migrate: (pool: Pool) => Promise<unknown>;
}

/** A statement of a client, with the call that runs it. */
interface PoolStatement extends Statement {
  readonly direct?: () => Promise<unknown>;
}

const BEGINS = /^\s*(?:begin|start\s+transaction)\b/i;
const ISOLATION = /^\s*set\s+transaction\b|\bisolation\s+level\b/i;
/** A transaction that ends inside a message of several statements. */
const ENDS_WITHIN = /(?:^|;)\s*(?:commit|rollback(?!\s+to))\b/i;

/** The result of a statement that is not sent. */
const resultOf = (command: string) => ({ command, rowCount: null, oid: null, rows: [], fields: [] });

/** A transaction of a client. */
interface Begun {
  readonly transaction: AdapterTransaction;
  readonly frame: Frame;
}

/** The statements of one borrowed connection, in the order in which its client runs them. */
class Borrowed {
  readonly #turns: Turns;
  readonly #session: Session;
  #begun: Begun | null = null;

  constructor(turns: Turns, session: Session) {
    this.#turns = turns;
    this.#session = session;
  }

  async run(sql: string, direct: () => Promise<unknown>): Promise<unknown> {
    const begun = this.#begun;
    if (BEGINS.test(sql)) return this.#begin();
    if (ISOLATION.test(sql)) return resultOf("SET");
    if (ENDS.test(sql)) {
      this.#begun = null;
      return begun === null ? resultOf("ROLLBACK") : this.#end(sql, begun);
    }
    if (ENDS_WITHIN.test(sql))
      throw new Error("A sandbox cannot end a transaction in a message of several statements.");
    const statement: PoolStatement = { sql, direct };
    if (begun === null) return this.#turns.run(null, () => this.#session.alone("executeRaw", statement));
    return this.#turns.runIn(begun.frame, () => begun.transaction.executeRaw(statement));
  }

  async #begin() {
    if (this.#begun === null) {
      const frame = await this.#turns.open();
      this.#begun = { frame, transaction: await this.#session.begin(() => frame.end()) };
    }
    return resultOf("BEGIN");
  }

  async #end(sql: string, { frame, transaction }: Begun) {
    if (/^\s*(?:rollback|abort)/i.test(sql)) {
      await transaction.rollback();
      return resultOf("ROLLBACK");
    }
    try {
      await this.#turns.runIn(frame, () => transaction.commit());
      return resultOf("COMMIT");
    } catch (error) {
      // A real COMMIT after a failed statement does not fail either.
      if (error instanceof RolledBackError) return resultOf("ROLLBACK");
      throw error;
    }
  }

  /** Rolls back a transaction that is open. */
  release(): void {
    void this.#begun?.transaction.rollback();
    this.#begun = null;
  }
}

/** Takes the place of a pool, and keeps the copy of its database. */
export class PoolConnection implements SandboxConnection<Pool> {
  readonly #turns = new Turns({ hasCallbacks: false });
  readonly #given: PoolMigrations;
  #copy: Copy | null = null;
  #opened: { readonly pool: Pool; readonly session: Session; close(): Promise<void> } | null = null;
  #hasToldIsolation = false;

  constructor(given: PoolMigrations) {
    this.#given = given;
  }

  async open(open: () => Promise<Pool>): Promise<Pool> {
    const original: unknown = await open();
    if (!(original instanceof Pool)) throw transactionError("TSGI_SANDBOX_POOL");
    const { options } = original;
    const of = (name: string | null): PoolConfig => (name === null ? options : configOf(options, name));
    const { migrations, migrate } = this.#given;
    this.#copy = await copyPostgreSQL({
      configOf: of,
      schema: "public",
      tables: [],
      fingerprint: fingerprintOf(migrations),
      migrate: async (name) => {
        const pool = new Pool({ ...of(name), max: 1 });
        try {
          await migrate(pool);
        } finally {
          await pool.end();
        }
      },
      errorOf: (_, cause) => cause,
    });
    const pool = new Pool({ ...of(this.#copy.name), max: 1, allowExitOnIdle: true });
    const client = await pool.connect();
    client.on("error", () => {}); // a lost connection would end the process
    client.setMaxListeners(0); // each transaction that waits for its turn has one
    const end = pool.end.bind(pool);
    const close = async () => {
      client.release();
      await end();
    };
    const session = new Session(() => begin(client), new PostgreSQLDialect((error) => describeError(error).code));
    this.#opened = { pool, session, close };
    const connect = async () => this.#borrow(client, session);
    const query: Query = (...args) => {
      const callback = args.at(-1);
      if (isCallback(callback)) return callbackify(async () => query(...args.slice(0, -1)))(callback);
      return connect().then((borrowed) => Reflect.apply(Reflect.get(borrowed, "query") as Query, borrowed, args));
    };
    // The application ends its pool when it stops, and the sandbox is used on.
    return Object.assign(pool, { connect, query, end: async () => {} });
  }

  #borrow(client: PoolClient, session: Session): PoolClient {
    const statements = new Borrowed(this.#turns, session);
    const borrowed = intercept(client, {
      run: (sql, direct) => {
        if (ISOLATION.test(sql)) this.#tellIsolation(sql);
        return statements.run(sql, direct);
      },
      beforeCursor: () => {
        throw new Error("A sandbox does not support cursors.");
      },
      release: () => statements.release(),
    });
    settingsOf.set(borrowed, (settings) => session.setSettings(settings));
    return borrowed;
  }

  #tellIsolation(sql: string): void {
    if (this.#hasToldIsolation) return;
    this.#hasToldIsolation = true;
    consoleLogger.warn({}, `The sandbox has one transaction, so it ignores the isolation level of ${sql}.`);
  }

  async query(sql: string, values: readonly unknown[]): Promise<readonly unknown[]> {
    const result = await this.#opened?.pool.query<object>(sql, [...values]);
    return result?.rows ?? [];
  }

  /** A job is in the transaction of its request: its `tx` runs its statements on the same connection. */
  async execute(sql: string, values: readonly unknown[]): Promise<unknown> {
    return this.query(sql, values);
  }

  enter<T>(work: () => T): T {
    return this.#turns.enter(work);
  }

  async rollBack(): Promise<void> {
    this.#turns.restart();
    await this.#opened?.session.rollBack();
  }

  async end(): Promise<void> {
    this.#turns.restart();
    await this.#opened?.session.close();
  }

  async close(): Promise<void> {
    await this.#opened?.close();
    this.#opened = null;
    await this.#copy?.drop();
    this.#copy = null;
  }
}

/** Begins the transaction that is never committed. */
async function begin(client: PoolClient): Promise<AdapterTransaction & { readonly client: PoolClient }> {
  await client.query("BEGIN");
  return {
    client,
    options: { usePhantomQuery: false },
    executeRaw: async ({ sql, direct }: PoolStatement) => direct?.() ?? client.query(sql),
    queryRaw: async ({ sql }: Statement) => client.query({ text: sql, rowMode: "array" }),
    commit: async () => {},
    rollback: async () => {},
  };
}

function configOf(options: PoolConfig, database: string): PoolConfig {
  const { connectionString } = options;
  return connectionString === undefined
    ? { ...options, database }
    : { ...options, connectionString: urlOf(connectionString, database) };
}

/** Identifies the files of a folder. */
function fingerprintOf(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .toSorted();
  const hash = createHash("sha256").update(CREATE_JOBS);
  for (const file of files) hash.update(`\0${path.relative(folder, file)}\0`).update(readFileSync(file));
  return hash.digest("hex");
}
