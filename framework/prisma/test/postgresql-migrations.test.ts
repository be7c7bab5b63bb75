import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { Client } from "pg";
import { startPgBouncer, WITHOUT_PGBOUNCER } from "../../test/support/pgbouncer.js";
import { type Cluster, startCluster, WITHOUT_CLUSTER } from "../../test/support/postgres-cluster.js";
import { MigrationError } from "../src/index.js";
import { createSchema, openClient, queryPostgreSQL, temporaryFolder } from "./_clients.js";

let cluster: Cluster;
beforeAll(async () => {
  if (WITHOUT_CLUSTER === null) cluster = await startCluster();
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
});

/** A folder of migrations, each with its SQL, and a schema without tables. */
async function createMigrations(scripts: Readonly<Record<string, string>>, server = cluster.url) {
  const folder = await temporaryFolder();
  for (const [name, sql] of Object.entries(scripts)) {
    await mkdir(path.join(folder.path, name));
    await writeFile(path.join(folder.path, name, "migration.sql"), sql);
  }
  const url = createSchema(server);
  const schema = String(new URL(url).searchParams.get("schema"));
  return {
    schema,
    run: async () => {
      const db = await openClient(url, { migrations: folder.path, poolSize: 1 });
      await db.$disconnect();
    },
    journal: () =>
      queryPostgreSQL(
        cluster.url,
        `SELECT migration_name AS name, finished_at IS NOT NULL AS finished FROM ${schema}._prisma_migrations ORDER BY started_at`,
      ),
    [Symbol.asyncDispose]: folder[Symbol.asyncDispose],
  };
}

const ENUM = {
  "1_create": "CREATE TYPE color AS ENUM ('red'); CREATE TABLE pens (color color);",
  "2_extend": "ALTER TYPE color ADD VALUE 'blue';",
  "3_use": "ALTER TABLE pens ALTER color SET DEFAULT 'blue'; INSERT INTO pens DEFAULT VALUES;",
};
const CONCURRENTLY = {
  "1_create": "CREATE TABLE pens (name text);",
  "2_index": "-- CreateIndex\nCREATE INDEX CONCURRENTLY pens_name ON pens (name);",
  "3_more": "ALTER TABLE pens ADD ink text;",
};
const finished = (scripts: object) => Object.keys(scripts).map((name) => ({ name, finished: true }));

const MISSING = WITHOUT_CLUSTER ?? WITHOUT_PGBOUNCER;
const describeWithPgBouncer = MISSING === null ? describe : describe.skip;
const describeWithCluster = WITHOUT_CLUSTER === null ? describe : describe.skip;

describeWithCluster(`migrating PostgreSQL${WITHOUT_CLUSTER === null ? "" : ` (${WITHOUT_CLUSTER})`}`, () => {
  it.each([
    ["uses a value of an enum that a migration before it added", ENUM],
    ["creates an index concurrently", CONCURRENTLY],
    ["accepts a file with a byte order mark", { "1_create": "\uFEFFCREATE TABLE pens (name text);" }],
  ])("%s", async (_, scripts) => {
    await using migrations = await createMigrations(scripts);
    await migrations.run();
    expect(await migrations.journal()).toEqual(finished(scripts));
  });

  it("creates an index concurrently while other processes wait to migrate, and each migration runs once", async () => {
    await using migrations = await createMigrations(CONCURRENTLY);
    await Promise.all(Array.from({ length: 5 }, migrations.run));
    expect(await migrations.journal()).toEqual(finished(CONCURRENTLY));
  });

  it("waits for the lock of Prisma's command line", async () => {
    await using migrations = await createMigrations(CONCURRENTLY);
    const other = new Client(cluster.url);
    await other.connect();
    await other.query("SELECT pg_advisory_lock(72707369)");
    const events: string[] = [];
    const done = migrations.run().finally(() => events.push("migrated"));
    // The process has tried to take the lock, without success.
    const tries = "SELECT 1 FROM pg_stat_activity WHERE query = 'ROLLBACK' AND backend_type = 'client backend'";
    while (events.length === 0 && (await other.query(tries)).rows.length === 0);
    expect(events).toEqual([]);
    await other.end();
    await done;
    expect(await migrations.journal()).toEqual(finished(CONCURRENTLY));
  });

  it("names the migration that fails, keeps those before it, and tries it again at the next start", async () => {
    const scripts = { ...ENUM, "2_extend": "ALTER TYPE color ADD VALUE 'blue'; INSERT INTO pens VALUES ('blue');" };
    await using migrations = await createMigrations(scripts);
    for (const run of [migrations.run, migrations.run]) {
      const error = await run().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(MigrationError);
      expect(String(error)).toContain(
        'The migration 2_extend failed: unsafe use of new value "blue" of enum type color',
      );
    }
    expect(await migrations.journal()).toEqual([{ name: "1_create", finished: true }]);
  });

  it.each([
    [
      "has no transaction",
      "CREATE UNIQUE INDEX CONCURRENTLY pens_name ON pens (name);",
      "could not create unique index",
    ],
    ["has committed", "COMMIT; SELECT 1/0;", "division by zero"],
  ])("marks a migration as failed that cannot be rolled back, because it %s", async (_, sql, message) => {
    await using migrations = await createMigrations({
      "1_create": "CREATE TABLE pens (name text); INSERT INTO pens VALUES ('quill'), ('quill');",
      "2_fails": sql,
    });
    await expect(migrations.run()).rejects.toThrow(`The migration 2_fails failed: ${message}`);
    expect(await migrations.journal()).toEqual([
      { name: "1_create", finished: true },
      { name: "2_fails", finished: false },
    ]);
    await expect(migrations.run()).rejects.toThrow("The migration 2_fails has failed before");
  });
});

describeWithPgBouncer(`migrating through PgBouncer${MISSING === null ? "" : ` (${MISSING})`}`, () => {
  it("applies each migration once, from concurrent processes", async () => {
    await using pooler = await startPgBouncer(cluster.url);
    await using migrations = await createMigrations(ENUM, pooler.url);
    await Promise.all(Array.from({ length: 3 }, migrations.run));
    expect(await migrations.journal()).toEqual(finished(ENUM));
  });
});
