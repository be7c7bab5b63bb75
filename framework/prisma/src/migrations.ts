/** Migrations without Prisma's command line: that needs a program for each platform, which has no place in a server. @module */
import { createHash, randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describeError } from "tsgi/internals";
import type { DatabaseConfig, Driver, MigrationSession } from "./driver.js";

interface Migration {
  readonly name: string;
  readonly sql: string;
  /** SHA-256 in hexadecimal: of the file, and of the file with the line ends of another checkout. */
  readonly checksums: readonly [own: string, ...others: string[]];
}

/** The state of the database is not what the migrations expect; the message contains the reason and the migration. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
}

const READ_JOURNAL =
  'SELECT "migration_name" AS "name", "checksum", "finished_at" IS NOT NULL AS "finished" ' +
  'FROM "_prisma_migrations" WHERE "rolled_back_at" IS NULL';

/**
 * Applies the pending migrations. Each has a transaction, as with `prisma migrate deploy`, because PostgreSQL allows a new
 * value of an enum only after the commit (55P04).
 *
 * @returns their names
 */
export async function applyMigrations(driver: Driver, config: DatabaseConfig, folder: string): Promise<string[]> {
  const migrations = readMigrations(folder, driver.name);
  const session = await driver.openMigration(config);
  const applied: string[] = [];
  let isOutside = false;
  try {
    await session.begin();
    await session.run(driver.createJournal);
    await session.commit();
    for (;;) {
      await session.begin();
      const [next] = pendingOf(migrations, await session.query(READ_JOURNAL));
      if (next === undefined) return applied;
      const isApplied = await apply(next, driver, session, isOutside);
      if (isApplied) applied.push(next.name);
      isOutside = !isApplied;
    }
  } finally {
    await session.close();
  }
}

/** Returns `false` if the database refuses the script in a transaction. */
async function apply(migration: Migration, driver: Driver, session: MigrationSession, isOutside: boolean) {
  try {
    const steps = (run: MigrationSession["run"]) => runScript(migration, driver, run);
    await (isOutside ? session.outside(steps) : steps((script) => session.run(script)));
    await session.commit();
    return true;
  } catch (cause) {
    await session.rollBack();
    if (!isOutside && session.isRefusedInTransaction(cause)) return false;
    throw new MigrationError(`The migration ${migration.name} failed: ${describeError(cause).message}`, { cause });
  }
}

/**
 * The entry is made before the script runs, as in Prisma: it remains, without its end, if a script fails that cannot be
 * rolled back, because it has no transaction or has committed.
 */
async function runScript({ name, sql, checksums }: Migration, driver: Driver, run: MigrationSession["run"]) {
  const id = toText(randomUUID());
  const now = () => driver.toTime(new Date());
  await run(
    'INSERT INTO "_prisma_migrations" ("id", "checksum", "migration_name", "started_at") ' +
      `VALUES (${id}, ${toText(checksums[0])}, ${toText(name)}, ${now()})`,
  );
  await run(sql);
  await run(`UPDATE "_prisma_migrations" SET "finished_at" = ${now()}, "applied_steps_count" = 1 WHERE "id" = ${id}`);
}

const toText = (text: string) => `'${text.replaceAll("'", "''")}'`;

function pendingOf(migrations: readonly Migration[], journal: readonly Readonly<Record<string, unknown>>[]) {
  const entries = new Map(journal.map((entry) => [entry["name"], entry]));
  return migrations.filter(({ name, checksums }) => {
    const entry = entries.get(name);
    if (entry && !entry["finished"]) {
      throw new MigrationError(`The migration ${name} has failed before: see "prisma migrate resolve".`);
    }
    if (entry && !checksums.some((checksum) => checksum === entry["checksum"])) {
      throw new MigrationError(`The migration ${name} was changed after it had been applied.`);
    }
    return entry === undefined;
  });
}

/** Identifies the migrations of a folder: the names, and the checksums with the line ends of Unix. */
export function fingerprintOf(folder: string, database: Driver["name"]): unknown {
  return readMigrations(folder, database).map(({ name, checksums }) => [name, checksums[1]]);
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
      const text = readText(path.join(home, name), name);
      const unix = text.replaceAll("\r\n", "\n");
      // A byte order mark is in Prisma's checksum, but PostgreSQL reads it as a part of the first word.
      const sql = text.replace(/^\uFEFF/, "");
      return { name, sql, checksums: [digest(text), digest(unix), digest(unix.replaceAll("\n", "\r\n"))] };
    });
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function readText(folder: string, name: string): string {
  const file = path.join(folder, "migration.sql");
  if (!existsSync(file)) {
    throw new MigrationError(`The migration ${name} has no file: restore ${file}, or delete its folder.`);
  }
  const bytes = readFileSync(file);
  try {
    return UTF8.decode(bytes);
  } catch (cause) {
    // Windows PowerShell writes UTF-16 for `prisma migrate diff --script > migration.sql`.
    throw new MigrationError(`The migration ${name} is not UTF-8: save ${file} in UTF-8.`, { cause });
  }
}

const digest = (text: string) => createHash("sha256").update(text).digest("hex");
