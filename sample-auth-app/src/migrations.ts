import { createHash, randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { createClient, type Client } from "@libsql/client";

import { whileBusy } from "./database.js";

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
  const client = createClient({ url });
  try {
    // Readers and a writer do not wait for each other in this mode, which the file keeps.
    await whileBusy(() => client.execute("PRAGMA journal_mode = WAL"), busyMs);
    // With foreign keys on, a script that rebuilds a table would delete what refers to its rows. No effect once a
    // transaction has begun, which is why a script's own such line does not help.
    await client.execute("PRAGMA foreign_keys = OFF");
    return await whileBusy(() => applyPending(client, migrations), busyMs);
  } finally {
    client.close();
  }
}

async function applyPending(client: Client, migrations: readonly Migration[]): Promise<string[]> {
  await client.execute("BEGIN IMMEDIATE"); // before the journal is read: of two processes, the second finds all done
  try {
    await client.execute(CREATE_JOURNAL);
    const pending = pendingOf(migrations, await readJournal(client));
    // One call to the end of the transaction: the client rolls back what a script leaves open, also when it fails.
    await client.executeMultiple(`${pending.map(toScript).join("\n")}\nCOMMIT;`);
    return pending.map(({ name }) => name);
  } catch (error) {
    await client.execute("ROLLBACK").catch(() => {}); // nothing is open when the script itself has failed
    throw error;
  }
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
async function readJournal(client: Client): Promise<Map<string, string | null>> {
  const { rows } = await client.execute(
    `SELECT "migration_name", "checksum", "finished_at" FROM "_prisma_migrations" WHERE "rolled_back_at" IS NULL`,
  );
  return new Map(rows.map((row) => [String(row[0]), row[2] === null ? null : String(row[1])]));
}

/** The migration followed by its line in the journal. Nothing here comes from outside the repository. */
function toScript({ name, sql, checksum }: Migration): string {
  const now = Date.now();
  return `${sql}
;INSERT INTO "_prisma_migrations" ("id", "checksum", "migration_name", "started_at", "finished_at", "applied_steps_count")
VALUES ('${randomUUID()}', '${checksum}', '${name}', ${now}, ${now}, 1);`;
}

function readMigrations(directory: string): Migration[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted()
    .map((name) => {
      if (!/^\w+$/.test(name)) {
        throw new MigrationError(`migration ${JSON.stringify(name)}: expected a name of letters, digits and _`);
      }
      const sql = readFileSync(path.join(directory, name, "migration.sql"), "utf8");
      return { name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
    });
}
