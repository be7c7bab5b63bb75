/** The statements of a sandbox on PostgreSQL. @module */
import type { Settings } from "../settings.js";
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
export const CHANGES_TABLES = /\b(?:CREATE|ALTER|DROP)\b/i;

/** The client of `pg` in a transaction: in an adapter of Prisma, the field is protected in its class. */
interface Socket {
  ref(): void;
  unref(): void;
}

/** PostgreSQL sends several statements in one message, if they have no values. */
export class PostgreSQLDialect implements Dialect {
  readonly #stateOf: (error: unknown) => string;
  /** `null` if they have to be read. */
  #deferred: readonly string[] | null = null;
  /** `true` once a statement may have changed tables. */
  #hasChanged = false;
  /** `false` if each transaction sets its settings again, as through PgBouncer; `null` if that is not known. */
  #keepsSettings: boolean | null = null;

  /** @param stateOf - The SQLSTATE of an error. */
  constructor(stateOf: (error: unknown) => string) {
    this.#stateOf = stateOf;
  }

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

  /** `in_failed_sql_transaction`: PostgreSQL replies to a real COMMIT with ROLLBACK. */
  hasFailed(error: unknown): boolean {
    return this.#stateOf(error) === "25P02";
  }
}
