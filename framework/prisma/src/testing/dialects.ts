/** The statements of a sandbox that differ between the databases. @module */
import type { Settings } from "@tsgi/transactions/internals";
import { type Dialect, neutral, type RunText } from "./session.js";

const toText = (text: string) => `'${text.replaceAll("'", "''")}'`;

function setAll(settings: Settings): string[] {
  if (settings.length === 0) return [];
  return [
    `SELECT ${settings.map(([name, value]) => `set_config(${toText(name)}, ${toText(value)}, true)`).join(", ")}`,
  ];
}

/** Constraints that a transaction checks at its end. `SET CONSTRAINTS` needs their names to defer them again. */
const DEFERRED = `SELECT DISTINCT format('%I.%I', n.nspname, c.conname) FROM pg_constraint c
JOIN pg_namespace n ON n.oid = c.connamespace WHERE c.condeferred`;

const SETTINGS = `SELECT current_setting('search_path'), current_setting('statement_timeout')`;

/** A statement that may add or remove a constraint. */
const CHANGES_TABLES = /\b(?:CREATE|ALTER|DROP)\b/i;

/** A statement that defers all foreign keys of SQLite until the end of the transaction. */
const DEFERS = /\bdefer_foreign_keys\b/i;

/** The client of `pg` in a transaction of Prisma's adapter. The field is protected in its class. */
interface Socket {
  ref(): void;
  unref(): void;
}

/** PostgreSQL sends several statements in one message, if they have no values. */
export class PostgreSQLDialect implements Dialect {
  /** `null` if they have to be read. */
  #deferred: readonly string[] | null = null;
  /** `true` once a statement may have changed tables. */
  #hasChanged = false;
  /** `false` if each transaction sets its settings again, as through PgBouncer; `null` if that is not known. */
  #keepsSettings: boolean | null = null;

  async begin(run: RunText, savepoint: string, settings: Settings): Promise<void> {
    await run([`SAVEPOINT ${savepoint}`, ...setAll(settings.map(neutral))].join("; "));
  }

  async release(run: RunText, savepoint: string, settings: Settings): Promise<void> {
    if (this.#deferred === null) {
      const { rows } = (await run(DEFERRED, "queryRaw")) as { rows: readonly [string][] };
      this.#deferred = rows.map(([name]) => name);
    }
    const again = this.#deferred.length > 0 ? [`SET CONSTRAINTS ${this.#deferred.join(", ")} DEFERRED`] : [];
    const statements = [
      "SET CONSTRAINTS ALL IMMEDIATE",
      ...again,
      ...setAll(settings),
      `RELEASE SAVEPOINT ${savepoint}`,
    ];
    await run(statements.join("; "));
  }

  note(sql: string): void {
    if (!CHANGES_TABLES.test(sql)) return;
    this.#hasChanged = true;
    this.#deferred = null;
  }

  undo(): void {
    if (this.#hasChanged) this.#deferred = null;
  }

  async start(): Promise<void> {
    // Its next transaction begins in the message that ends this one.
  }

  async restart(run: RunText): Promise<boolean> {
    if (this.#keepsSettings === false) return false;
    const before = this.#keepsSettings === null ? await this.#readSettings(run) : null;
    await run("ROLLBACK; BEGIN");
    if (before !== null) this.#keepsSettings = before === (await this.#readSettings(run));
    return this.#keepsSettings === true;
  }

  async #readSettings(run: RunText): Promise<string> {
    const { rows } = (await run(SETTINGS, "queryRaw")) as { rows: readonly (readonly unknown[])[] };
    return JSON.stringify(rows);
  }

  hold(transaction: object, isBusy: boolean): void {
    const socket = Reflect.get(transaction, "client") as Socket;
    if (isBusy) socket.ref();
    else socket.unref();
  }
}

/** SQLite has no settings, and its connection does not keep the process alive. */
export class SQLiteDialect implements Dialect {
  readonly #violation: () => Error;
  #hasDeferred: boolean | null = null;
  /** `true` if a statement of this transaction may have deferred all foreign keys. */
  #isDeferring = false;
  #hasChanged = false;

  /** @param violation - Makes the error of a foreign key without its row, as a commit throws it. */
  constructor(violation: () => Error) {
    this.#violation = violation;
  }

  async begin(run: RunText, savepoint: string): Promise<void> {
    await run(`SAVEPOINT ${savepoint}`);
  }

  async release(run: RunText, savepoint: string): Promise<void> {
    const rows = async (sql: string) =>
      ((await run(sql, "queryRaw")) as { rows: readonly (readonly unknown[])[] }).rows;
    if (this.#hasDeferred === null) {
      const [found] = await rows("SELECT 1 FROM sqlite_schema WHERE sql LIKE '%DEFERR%' LIMIT 1");
      this.#hasDeferred = found !== undefined;
    }
    const isChecked = this.#hasDeferred || this.#isDeferring;
    if (isChecked && (await rows("PRAGMA foreign_key_check")).length > 0) throw this.#violation();
    if (this.#isDeferring) await run("PRAGMA defer_foreign_keys = OFF"); // as a commit does
    this.#isDeferring = false;
    await run(`RELEASE SAVEPOINT ${savepoint}`);
  }

  note(sql: string): void {
    if (DEFERS.test(sql)) this.#isDeferring = true;
    if (!CHANGES_TABLES.test(sql)) return;
    this.#hasChanged = true;
    this.#hasDeferred = null;
  }

  undo(): void {
    if (this.#hasChanged) this.#hasDeferred = null;
  }

  async start(run: RunText): Promise<void> {
    await run("SAVEPOINT tsgi_start");
  }

  /** Its copy has no other users who would wait for the end of the transaction. */
  async restart(run: RunText): Promise<boolean> {
    await run("ROLLBACK TO SAVEPOINT tsgi_start");
    if (this.#isDeferring) await run("PRAGMA defer_foreign_keys = OFF");
    this.#isDeferring = false;
    return true;
  }

  hold(): void {
    // Its connection has no socket.
  }
}
