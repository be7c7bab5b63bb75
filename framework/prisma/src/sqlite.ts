/** SQLite, in a file. @module */
import { describeError } from "tsgi/internals";
import {
  causeOf,
  codesOf,
  type DatabaseConfig,
  type Driver,
  isOfPrisma,
  type MigrationSession,
  type UniqueIndex,
} from "./driver.js";
import { patiently, UnavailableError, type Verdict } from "@tsgi/transactions/internals";
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
  isOwn: (error) => isOfPrisma(error) || isLocked(error),
  hasIsolation: false,
  // SQLite lists the columns in the message, but does not quote them: `UNIQUE constraint failed: User.name, User.email`.
  keyOf: ({ originalMessage }) => String(originalMessage).replace(/^[^]*?constraint failed: /, ""),

  async readUniqueIndexes({ url }: DatabaseConfig): Promise<readonly UniqueIndex[]> {
    const connection = await open(url);
    try {
      return (connection.prepare(UNIQUE_INDEXES).all() as IndexRow[]).map(toUniqueIndex);
    } finally {
      connection.close();
    }
  },

  async openMigration({ url, waitMs }: DatabaseConfig): Promise<MigrationSession> {
    const connection = await open(url);
    const rollBack = () => void (connection.inTransaction && connection.exec("ROLLBACK"));
    const run = async (script: string) => void connection.exec(script);
    try {
      // Readers and a writer do not wait for each other in this mode, which the file keeps.
      await patiently(() => run("PRAGMA journal_mode = WAL"), judge, waitMs);
      // With foreign keys on, a script that rebuilds a table would delete the rows that refer to it. The same line in
      // the script has no effect, since a transaction has begun by then.
      await run("PRAGMA foreign_keys = OFF");
    } catch (error) {
      connection.close();
      throw isLocked(error) || error instanceof UnavailableError ? error : openErrorOf(url, error);
    }
    return {
      // The lock is taken before the journal is read: of two processes, the second finds the migration applied.
      begin: () => patiently(() => run("BEGIN IMMEDIATE"), judge, waitMs),
      query: async (statement) => connection.prepare(statement).all() as Record<string, unknown>[],
      run,
      commit: () => run("COMMIT"),
      rollBack: async () => rollBack(),
      isRefusedInTransaction: () => false,
      outside: (work) => work(run),
      close: async () => {
        rollBack(); // the driver's `close` leaves it open
        connection.close();
      },
    };
  },
};

interface IndexRow {
  readonly table: string;
  readonly index: string;
  /** A JSON array; `null` for an expression. */
  readonly columns: string;
}

/** A primary key of integers has no index in the list, and a table with a primary key of several columns has one. */
const UNIQUE_INDEXES = `
SELECT t.name AS "table", l.name AS "index",
  (SELECT json_group_array(name) FROM (SELECT name FROM pragma_index_info(l.name) ORDER BY seqno)) AS "columns"
FROM sqlite_schema t JOIN pragma_index_list(t.name) l WHERE t.type = 'table' AND l."unique"
UNION ALL
SELECT t.name, '', json_array(c.name)
FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND c.pk = 1`;

function toUniqueIndex({ table, index, columns }: IndexRow): UniqueIndex {
  const names = JSON.parse(columns) as (string | null)[];
  const known = names.filter((name) => name !== null);
  return known.length === names.length
    ? { key: known.map((name) => `${table}.${name}`).join(", "), columns: known }
    : { key: `index '${index}'`, columns: [] };
}

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

/** P1008 is SQLite's lock as Prisma calls it; a raw query has only its cause. P2028: the queue for the connection was too long, or a transaction took too long. */
function judge(error: unknown): Verdict {
  const { code } = codesOf(error);
  if (code === "P2028")
    return /Unable to start a transaction/.test(describeError(error).message) ? "busy" : "unavailable";
  const isBusy = code === "P1008" || causeOf(error)?.kind === "SocketTimeout" || isLocked(error);
  return isBusy ? "busy" : "fault";
}
