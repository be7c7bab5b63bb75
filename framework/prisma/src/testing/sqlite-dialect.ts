/** The statements of a sandbox on SQLite. @module */
import { CHANGES_TABLES, type Dialect, type RunText } from "@tsgi/transactions/testing/internals";

/** A statement that defers all foreign keys of SQLite until the end of the transaction. */
const DEFERS = /\bdefer_foreign_keys\b/i;

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

  hasFailed(): boolean {
    return false; // a statement that fails does not end its transaction
  }
}
