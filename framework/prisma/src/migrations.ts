/** Migrations without Prisma's command line: that needs a program for each platform, which has no place in a server. @module */
import { createHash, randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { DatabaseConfig, Driver } from "./driver.js";

interface Migration {
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the file, in hexadecimal. */
  readonly checksum: string;
}

/** The state of the database is not what the migrations expect; the message contains the reason and the migration. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
}

const READ_JOURNAL =
  'SELECT "migration_name" AS "name", "checksum", "finished_at" IS NOT NULL AS "finished" ' +
  'FROM "_prisma_migrations" WHERE "rolled_back_at" IS NULL';

/** Applies all pending migrations, or rolls back. Gives the names. */
export async function applyMigrations(driver: Driver, config: DatabaseConfig, folder: string): Promise<string[]> {
  const migrations = readMigrations(folder, driver.name);
  const session = await driver.openMigration(config);
  try {
    await session.run(driver.createJournal);
    const pending = pendingOf(migrations, await session.query(READ_JOURNAL));
    for (const { name, sql, checksum } of pending) {
      const startedAt = new Date();
      await session.run(sql);
      const row = [toText(randomUUID()), toText(checksum), toText(name), ...[startedAt, new Date()].map(driver.toTime)];
      await session.run(
        'INSERT INTO "_prisma_migrations" ("id", "checksum", "migration_name", "started_at", "finished_at", ' +
          `"applied_steps_count") VALUES (${row.join(", ")}, 1)`,
      );
    }
    await session.commit();
    return pending.map(({ name }) => name);
  } finally {
    await session.close();
  }
}

const toText = (text: string) => `'${text.replaceAll("'", "''")}'`;

function pendingOf(migrations: readonly Migration[], journal: readonly Readonly<Record<string, unknown>>[]) {
  const entries = new Map(journal.map((entry) => [entry["name"], entry]));
  return migrations.filter(({ name, checksum }) => {
    const entry = entries.get(name);
    if (entry && !entry["finished"]) {
      throw new MigrationError(`The migration ${name} has failed before: see "prisma migrate resolve".`);
    }
    if (entry && entry["checksum"] !== checksum) {
      throw new MigrationError(`The migration ${name} was changed after it had been applied.`);
    }
    return entry === undefined;
  });
}

/** Reads the layout of Prisma Migrate: a folder for each migration, in one for each database, or in one. */
function readMigrations(folder: string, database: string): Migration[] {
  const own = path.join(folder, database);
  const home = existsSync(own) ? own : folder;
  return readdirSync(home, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted()
    .map((name) => {
      const sql = readFileSync(path.join(home, name, "migration.sql"), "utf8");
      return { name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
    });
}
