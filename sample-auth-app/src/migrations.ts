import { createHash, randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import type SQLite from "libsql";

import { whileBusy } from "./database.js";
import { openSQLite } from "./sqlite.js";

/** The committed SQL, in the layout of Prisma Migrate. */
const MIGRATIONS = fileURLToPath(new URL("../prisma/migrations/sqlite", import.meta.url));

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

interface Migration {
  name: string;
  sql: string;
  /** SHA-256 of the file, in hexadecimal. */
  checksum: string;
}

/** The database is not what the migrations expect; the message says why and names the migration. */
export class MigrationError extends Error {
  override name = "MigrationError";
}

/**
 * Creates the database file where there is none, and applies the migrations that it lacks: all of them, or none.
 *
 * It does what `prisma migrate deploy` does, and writes the same journal, without the command line: that needs a program
 * for each platform, which has no place in a server. Several processes may call this at the same time.
 *
 * @param directory holds a folder for each migration, in their order
 * @returns the names of those that were applied
 * @throws MigrationError when an applied one has been changed, has failed before, or one fails now
 */
export async function migrate(url: string, busyMs: number, directory = MIGRATIONS): Promise<string[]> {
  const migrations = readMigrations(directory);
  const connection = openSQLite(url);
  try {
    // Readers and a writer do not wait for each other in this mode, which the file keeps.
    await whileBusy(async () => connection.exec("PRAGMA journal_mode = WAL"), busyMs);
    // With foreign keys on, a script that builds a table anew would delete what refers to its rows. The same line in the
    // script has no effect, since a transaction has begun by then.
    connection.exec("PRAGMA foreign_keys = OFF");
    // The lock comes before the journal is read: of two processes, the second finds all done.
    await whileBusy(async () => connection.exec("BEGIN IMMEDIATE"), busyMs);
    connection.exec(CREATE_JOURNAL);
    const pending = pendingOf(migrations, readJournal(connection));
    for (const migration of pending) {
      apply(connection, migration);
    }
    connection.exec("COMMIT");
    return pending.map(({ name }) => name);
  } finally {
    if (connection.inTransaction) {
      connection.exec("ROLLBACK"); // the driver's `close` leaves it open
    }
    connection.close();
  }
}

function apply(connection: SQLite.Database, { name, sql, checksum }: Migration): void {
  const started = Date.now();
  connection.exec(sql);
  connection
    .prepare(
      `INSERT INTO "_prisma_migrations"
       ("id", "checksum", "migration_name", "started_at", "finished_at", "applied_steps_count") VALUES (?, ?, ?, ?, ?, 1)`,
    )
    .run(randomUUID(), checksum, name, started, Date.now());
}

function pendingOf(migrations: readonly Migration[], journal: ReadonlyMap<string, string | null>): Migration[] {
  return migrations.filter(({ name, checksum }) => {
    const applied = journal.get(name);
    if (applied === null) {
      throw new MigrationError(`migration ${name} has failed before: see "prisma migrate resolve"`);
    }
    if (applied !== undefined && applied !== checksum) {
      throw new MigrationError(`migration ${name} was changed after it had been applied`);
    }
    return applied === undefined;
  });
}

/** @returns for each migration that was started, its checksum, or `null` when it has not finished */
function readJournal(connection: SQLite.Database): Map<string, string | null> {
  const rows = connection
    .prepare(
      `SELECT "migration_name", "checksum", "finished_at" FROM "_prisma_migrations" WHERE "rolled_back_at" IS NULL`,
    )
    .raw(true)
    .all() as [name: string, checksum: string, finishedAt: unknown][]; // as CREATE_JOURNAL and the SELECT have them
  return new Map(rows.map(([name, checksum, finishedAt]) => [name, finishedAt === null ? null : checksum]));
}

function readMigrations(directory: string): Migration[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted()
    .map((name) => {
      const sql = readFileSync(path.join(directory, name, "migration.sql"), "utf8");
      return { name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
    });
}
