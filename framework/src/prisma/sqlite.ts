/** SQLite, in a file. @module */
import { codesOf, type DatabaseConfig, type Driver, type MigrationSession, type Verdict } from "./driver.js";
import { patiently, UnavailableError } from "./patience.js";
import { isLocked, openSQLite, SQLiteAdapter } from "./sqlite-client.js";

export const driver: Driver = {
  name: "sqlite",
  createJournal: `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" TEXT PRIMARY KEY NOT NULL,
  "checksum" TEXT NOT NULL,
  "finished_at" DATETIME,
  "migration_name" TEXT NOT NULL,
  "logs" TEXT,
  "rolled_back_at" DATETIME,
  "started_at" DATETIME NOT NULL DEFAULT current_timestamp,
  "applied_steps_count" INTEGER UNSIGNED NOT NULL DEFAULT 0
);`,
  toTime: (date) => String(date.getTime()),
  createAdapter: ({ url }) => new SQLiteAdapter({ url }),
  judge,

  async openMigration({ url, waitMs }: DatabaseConfig): Promise<MigrationSession> {
    const connection = await open(url);
    const close = async () => {
      if (connection.inTransaction) connection.exec("ROLLBACK"); // the driver's `close` leaves it open
      connection.close();
    };
    const run = async (script: string) => void connection.exec(script);
    try {
      // Readers and a writer do not wait for each other in this mode, which the file keeps.
      await patiently(() => run("PRAGMA journal_mode = WAL"), judge, waitMs);
      // With foreign keys on, a script that builds a table anew would delete what refers to its rows. The same line in the
      // script has no effect, since a transaction has begun by then.
      await run("PRAGMA foreign_keys = OFF");
      // The lock comes before the journal is read: of two processes, the second finds all done.
      await patiently(() => run("BEGIN IMMEDIATE"), judge, waitMs);
    } catch (error) {
      await close();
      throw isLocked(error) || error instanceof UnavailableError ? error : openErrorOf(url, error);
    }
    return {
      query: async (statement) => connection.prepare(statement).all() as Record<string, unknown>[],
      run,
      commit: () => run("COMMIT"),
      close,
    };
  },
};

async function open(url: string) {
  try {
    return openSQLite(url);
  } catch (error) {
    throw openErrorOf(url, error);
  }
}

/** The driver does not say each time which file it is. */
function openErrorOf(url: string, cause: unknown): Error {
  return new Error(`SQLite, ${url}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
}

/** P1008 is SQLite's lock as Prisma names it; P2028, that the line for the connection was too long. */
function judge(error: unknown): Verdict {
  return /^(?:P1008|P2028)$/.test(codesOf(error).code) || isLocked(error) ? "busy" : "fault";
}
