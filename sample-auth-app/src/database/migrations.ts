import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import type { DatabaseConfig, JournalEntry } from "./driver.js";
import { loadDriver } from "./load-driver.js";

/** The committed SQL, in the layout of Prisma Migrate: a folder for each database. */
const MIGRATIONS = fileURLToPath(new URL("../../prisma/migrations", import.meta.url));

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
 * Applies the migrations that a database lacks: all of them, or none. A file or a schema that is not there is made.
 *
 * It does what `prisma migrate deploy` does, and writes the same journal, without the command line: that needs a program
 * for each platform, which has no place in a server. Several processes may call this at the same time.
 *
 * @param directory holds a folder for each migration, in their order; by default those of this application
 * @returns the names of those that were applied
 * @throws MigrationError when an applied one has been changed, has failed before, or one fails now
 */
export async function migrate(config: DatabaseConfig, directory?: string): Promise<string[]> {
  const driver = await loadDriver(config.url);
  const migrations = readMigrations(directory ?? path.join(MIGRATIONS, driver.name));
  return driver.migrate(config, async (session) => {
    const pending = pendingOf(migrations, await session.readJournal());
    for (const { name, sql, checksum } of pending) {
      const startedAt = new Date();
      await session.run(sql);
      await session.record({ name, checksum, startedAt });
    }
    return pending.map(({ name }) => name);
  });
}

function pendingOf(migrations: readonly Migration[], journal: readonly JournalEntry[]): Migration[] {
  const entries = new Map(journal.map((entry) => [entry.name, entry]));
  return migrations.filter(({ name, checksum }) => {
    const entry = entries.get(name);
    if (entry?.isFinished === false) {
      throw new MigrationError(`migration ${name} has failed before: see "prisma migrate resolve"`);
    }
    if (entry !== undefined && entry.checksum !== checksum) {
      throw new MigrationError(`migration ${name} was changed after it had been applied`);
    }
    return entry === undefined;
  });
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
