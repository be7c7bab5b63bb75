import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, jest } from "@jest/globals";
import { Client } from "pg";

import { connect, type Database } from "../../../src/database.js";

// Migrations and locks take their time on a machine that is busy.
jest.setTimeout(300_000);

/** Set where the tests run on PostgreSQL: by jest.config.js, or in the environment. */
declare global {
  var TEST_DATABASE_URL: string | undefined;
}

/** The PostgreSQL in which each test file creates a schema, or undefined if the tests run on SQLite. */
const SERVER_URL = globalThis.TEST_DATABASE_URL ?? process.env["TEST_DATABASE_URL"];

/** Which database the tests run on. */
export const DATABASE = SERVER_URL === undefined ? "SQLite" : "PostgreSQL";

/** A place without tables, which is removed at the end of the surrounding block. */
export interface TestDatabase extends AsyncDisposable {
  url: string;
}

/** A file, or a schema with a unique name. */
export async function createTestDatabase(): Promise<TestDatabase> {
  return SERVER_URL === undefined ? createFile() : createSchema(SERVER_URL);
}

/** A file in a separate folder. */
export async function createFile(): Promise<TestDatabase> {
  const folder = await mkdtemp(path.join(tmpdir(), "sample-auth-app-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  return { url: `file:${folder}/test.db`, [Symbol.asyncDispose]: remove };
}

/** A schema with a unique name. The application makes it itself, as it does everywhere. */
export async function createSchema(serverUrl: string): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const url = new URL(serverUrl);
  url.searchParams.set("schema", name);
  const drop = (): Promise<void> => queryPostgreSQL(serverUrl, `DROP SCHEMA IF EXISTS ${name} CASCADE`).then(() => {});
  return { url: url.href, [Symbol.asyncDispose]: drop };
}

/** Runs one statement on a separate connection. */
export async function queryPostgreSQL(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    const { rows } = await client.query<object>(sql);
    return rows;
  } finally {
    await client.end();
  }
}

/** A migrated database with two clients: the application's, and the test's, which stands for another process. */
export interface OpenDatabase {
  url: string;
  ofApp: Database;
  ofTest: Database;
}

/** Milliseconds that a client waits for the database of a machine that is busy. */
const PATIENCE_MS = 30_000;

export async function openClients(url: string, waitMs = PATIENCE_MS): Promise<OpenDatabase> {
  return { url, ofApp: await connect(url, { waitMs }), ofTest: await connect(url, { waitMs: PATIENCE_MS }) };
}

export async function closeClients({ ofApp, ofTest }: OpenDatabase): Promise<void> {
  await ofApp.$disconnect();
  await ofTest.$disconnect();
}

/** The databases of this test file. */
const created: TestDatabase[] = [];
/** The databases that no test uses at the moment. */
const idle: OpenDatabase[] = [];

afterAll(async () => {
  await Promise.all(idle.map(closeClients));
  await Promise.all(created.map((database) => database[Symbol.asyncDispose]()));
});

/**
 * A database with empty tables. Migrations and the start of a client take longer than most tests, so the next test of the
 * file gets the same one.
 */
export async function takeDatabase(): Promise<OpenDatabase & AsyncDisposable> {
  const used = idle.pop();
  if (used !== undefined) {
    await emptyTables(used.ofTest);
  }
  const database = used ?? (await createMigrated());
  return { ...database, [Symbol.asyncDispose]: async () => void idle.push(database) };
}

async function createMigrated(): Promise<OpenDatabase> {
  const database = await createTestDatabase();
  created.push(database);
  return openClients(database.url);
}

/** Removes the rows of all tables. Keys begin at 1 again. */
async function emptyTables(db: Database): Promise<void> {
  if (DATABASE === "PostgreSQL") {
    const [row] = await db.$queryRaw<[{ tables: string }]>`
      SELECT string_agg(quote_ident(tablename), ', ') AS tables
      FROM pg_tables WHERE schemaname = current_schema() AND tablename <> '_prisma_migrations'`;
    await db.$executeRawUnsafe(`TRUNCATE ${row.tables} RESTART IDENTITY CASCADE`);
    return;
  }
  const tables = await db.$queryRaw<{ name: string }[]>`
    SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> '_prisma_migrations'`;
  await db.$executeRaw`PRAGMA foreign_keys = OFF`;
  for (const { name } of tables) {
    await db.$executeRawUnsafe(`DELETE FROM "${name}"`);
  }
  await db.$executeRaw`PRAGMA foreign_keys = ON`;
}
