import { randomUUID } from "node:crypto";

import type SQLite from "libsql";

import { Prisma, PrismaClient } from "../generated/sqlite/client.js";
import type { DatabaseConfig, Driver, JournalEntry, MigrationSession, Verdict } from "./driver.js";
import { whileBusy } from "./retry.js";
import { isLocked, openSQLite, SQLiteAdapter } from "./sqlite-client.js";

/** Prisma's own table (schema-engine, `sql_schema_connector`), so that its commands accept what is written here. */
const CREATE_JOURNAL = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" TEXT PRIMARY KEY NOT NULL,
  "checksum" TEXT NOT NULL,
  "finished_at" DATETIME,
  "migration_name" TEXT NOT NULL,
  "logs" TEXT,
  "rolled_back_at" DATETIME,
  "started_at" DATETIME NOT NULL DEFAULT current_timestamp,
  "applied_steps_count" INTEGER UNSIGNED NOT NULL DEFAULT 0
);`;

/** SQLite, in a file. */
export const sqlite: Driver = {
  name: "sqlite",

  createClient({ url, waitMs }: DatabaseConfig): PrismaClient {
    return new PrismaClient({
      errorFormat: "minimal", // the other formats print a query with its values
      adapter: new SQLiteAdapter({ url }),
      // Transactions of this process stand in line for its one connection.
      transactionOptions: { maxWait: waitMs, timeout: waitMs },
    });
  },

  judge,

  async migrate<T>({ url, waitMs }: DatabaseConfig, work: (session: MigrationSession) => Promise<T>): Promise<T> {
    const connection = openSQLite(url);
    try {
      // Readers and a writer do not wait for each other in this mode, which the file keeps.
      await whileBusy(async () => connection.exec("PRAGMA journal_mode = WAL"), judge, waitMs);
      // With foreign keys on, a script that builds a table anew would delete what refers to its rows. The same line in the
      // script has no effect, since a transaction has begun by then.
      connection.exec("PRAGMA foreign_keys = OFF");
      // The lock comes before the journal is read: of two processes, the second finds all done.
      await whileBusy(async () => connection.exec("BEGIN IMMEDIATE"), judge, waitMs);
      connection.exec(CREATE_JOURNAL);
      const result = await work(sessionOf(connection));
      connection.exec("COMMIT");
      return result;
    } finally {
      if (connection.inTransaction) {
        connection.exec("ROLLBACK"); // the driver's `close` leaves it open
      }
      connection.close();
    }
  },
};

/** P1008 is SQLite's lock as Prisma names it; P2028, that the line for the connection was too long. */
function judge(error: unknown): Verdict {
  const isBusy =
    error instanceof Prisma.PrismaClientKnownRequestError
      ? error.code === "P1008" || error.code === "P2028"
      : isLocked(error);
  return isBusy ? "busy" : "fault";
}

function sessionOf(connection: SQLite.Database): MigrationSession {
  return {
    async readJournal(): Promise<JournalEntry[]> {
      const rows = connection
        .prepare(
          `SELECT "migration_name", "checksum", "finished_at" FROM "_prisma_migrations" WHERE "rolled_back_at" IS NULL`,
        )
        .raw(true)
        .all() as [name: string, checksum: string, finishedAt: unknown][]; // as CREATE_JOURNAL and the SELECT have them
      return rows.map(([name, checksum, finishedAt]) => ({ name, checksum, isFinished: finishedAt !== null }));
    },
    async run(sql) {
      connection.exec(sql);
    },
    async record({ name, checksum, startedAt }) {
      connection
        .prepare(
          `INSERT INTO "_prisma_migrations"
           ("id", "checksum", "migration_name", "started_at", "finished_at", "applied_steps_count")
           VALUES (?, ?, ?, ?, ?, 1)`,
        )
        .run(randomUUID(), checksum, name, startedAt.getTime(), Date.now());
    },
  };
}
