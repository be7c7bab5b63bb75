import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { Client } from "pg";

/** Set where the tests run on PostgreSQL: by jest.config.js, or in the environment. */
declare global {
  var TEST_DATABASE_URL: string | undefined;
}

/** The PostgreSQL in which each test creates a separate schema, or undefined if the tests run on SQLite. */
const SERVER_URL = globalThis.TEST_DATABASE_URL ?? process.env["TEST_DATABASE_URL"];

/** Which database the tests run on. */
export const DATABASE = SERVER_URL === undefined ? "SQLite" : "PostgreSQL";

/** An empty place for one test's tables. */
export interface TestDatabase {
  url: string;
  drop: () => Promise<void>;
}

/** A file, or a schema with a unique name. */
export async function createTestDatabase(): Promise<TestDatabase> {
  return SERVER_URL === undefined ? createFile() : createSchema(SERVER_URL);
}

/** A file in a separate folder. */
export async function createFile(): Promise<TestDatabase> {
  const folder = await mkdtemp(path.join(tmpdir(), "sample-auth-app-"));
  return { url: `file:${folder}/test.db`, drop: () => rm(folder, { recursive: true, force: true }) };
}

/** A schema with a unique name. The application makes it itself, as it does everywhere. */
export async function createSchema(serverUrl: string): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const url = new URL(serverUrl);
  url.searchParams.set("schema", name);
  const drop = (): Promise<void> => queryPostgreSQL(serverUrl, `DROP SCHEMA IF EXISTS ${name} CASCADE`).then(() => {});
  return { url: url.href, drop };
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
