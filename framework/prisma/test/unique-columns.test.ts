import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { isUniqueViolation, uniqueViolation } from "../src/index.js";
import { type Cluster, startCluster, WITHOUT_CLUSTER } from "../../test/support/postgres-cluster.js";
import { type Client, createSchema, openClient, openTables, queryPostgreSQL } from "./_clients.js";

const describeWithCluster = WITHOUT_CLUSTER === null ? describe : describe.skip;

/** Further tables. The unique indexes have other columns, or another order, than their tables. */
const TABLES = [
  `CREATE UNIQUE INDEX "pen_place" ON "Pen" ("ownerId", "name")`,
  `CREATE TABLE "odd" ("a.b" TEXT, "first, last" TEXT, "say ""hi""" TEXT, UNIQUE ("say ""hi""", "first, last", "a.b"))`,
  `CREATE TABLE "mail" ("address" TEXT, "tenant" TEXT)`,
  `CREATE UNIQUE INDEX "mail_lower" ON "mail" ("tenant", lower("address"))`,
];

type Database = Awaited<ReturnType<typeof openClient>> & Raw;
interface Raw {
  $executeRawUnsafe(sql: string): Promise<number>;
  $transaction(work: (tx: Client & Raw) => Promise<unknown>): Promise<unknown>;
}

const fieldsOf = async (work: Promise<unknown>) =>
  work.then(
    () => "no error",
    (error: unknown) => uniqueViolation(error)?.fields ?? error,
  );
const twice = (db: Raw, sql: string) => db.$executeRawUnsafe(sql).then(() => db.$executeRawUnsafe(sql));

/** Opens a client again after it has made the tables, so that the catalogue has them. */
async function reopen(db: Database, url: string, statements: readonly string[]): Promise<Database> {
  for (const sql of statements) await db.$executeRawUnsafe(sql);
  return (await openClient(url)) as Database;
}

async function openSQLite() {
  const tables = await openTables();
  const db = await reopen(tables.db as Database, tables.url, TABLES);
  const dispose = async () => {
    await db.$disconnect();
    await tables[Symbol.asyncDispose]();
  };
  return { db, [Symbol.asyncDispose]: dispose };
}

let cluster: Cluster;
beforeAll(async () => {
  if (WITHOUT_CLUSTER === null) cluster = await startCluster();
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
});

async function openPostgreSQL(statements: readonly string[] = []) {
  const url = createSchema(cluster.url);
  const first = (await openClient(url)) as Database;
  const db = await reopen(first, url, [...TABLES, ...statements]);
  await first.$disconnect();
  return { db, url, [Symbol.asyncDispose]: () => db.$disconnect() };
}

describe.each([
  ["SQLite", openSQLite, describe],
  [`PostgreSQL${WITHOUT_CLUSTER === null ? "" : ` (${WITHOUT_CLUSTER})`}`, openPostgreSQL, describeWithCluster],
])("a unique violation on %s", (name, open, describeHere) => {
  describeHere("", () => {
    it("has the columns of a model's column, primary key and index, in the order of the index", async () => {
      await using opened = await open();
      const { db } = opened;
      const { id: ownerId } = await db.user.create({ data: { name: "ada" } });
      await db.pen.create({ data: { name: "quill", ownerId } });
      expect(await fieldsOf(db.user.create({ data: { name: "ada" } }))).toEqual(["name"]);
      expect(await fieldsOf(db.user.create({ data: { id: ownerId, name: "eve" } }))).toEqual(["id"]);
      expect(await fieldsOf(db.pen.create({ data: { name: "quill", ownerId } }))).toEqual(["ownerId", "name"]);
    });

    it("has the columns of a raw query, without quotes", async () => {
      await using opened = await open();
      const { db } = opened;
      expect(await fieldsOf(twice(db, `INSERT INTO "User" ("name") VALUES ('bob')`))).toEqual(["name"]);
      const columns = ['say "hi"', "first, last", "a.b"];
      expect(await fieldsOf(twice(db, `INSERT INTO "odd" VALUES ('a', 'b', 'c')`))).toEqual(columns);
    });

    it("has the columns inside of a transaction, which may hold the only connection", async () => {
      await using opened = await open();
      const { db } = opened;
      await db.user.create({ data: { name: "ada" } });
      let fields: unknown;
      const work = db.transaction(async (tx) => {
        fields = await fieldsOf(tx.user.create({ data: { name: "ada" } }));
        throw new Error("seen");
      });
      await expect(work).rejects.toThrow("seen");
      expect(fields).toEqual(["name"]);
    });

    it("has no columns if the index is on an expression", async () => {
      await using opened = await open();
      await opened.db.$executeRawUnsafe(`INSERT INTO "mail" VALUES ('Ada', 't')`);
      expect(await fieldsOf(opened.db.$executeRawUnsafe(`INSERT INTO "mail" VALUES ('ADA', 't')`))).toEqual([]);
    });

    it("has no columns if the index was created after the client was opened", async () => {
      await using opened = await open();
      await opened.db.$executeRawUnsafe(`CREATE UNIQUE INDEX "late" ON "User" ("email")`);
      await opened.db.user.create({ data: { name: "ada", email: "a@b.c" } });
      expect(await fieldsOf(opened.db.user.create({ data: { name: "bob", email: "a@b.c" } }))).toEqual([]);
    });

    it("is distinguished from other errors", async () => {
      await using opened = await open();
      const orphan = await opened.db.pen
        .create({ data: { name: "pen", ownerId: 99 } })
        .catch((error: unknown) => error);
      const others = [orphan, new Error("P2002"), { code: "P2002" }, null, undefined];
      expect(others.map(uniqueViolation)).toEqual([null, null, null, null, null]);
      const again = await twice(opened.db, `INSERT INTO "User" ("name") VALUES ('eve')`).catch(
        (error: unknown) => error,
      );
      expect([...others, again].map(isUniqueViolation)).toEqual([false, false, false, false, false, true]);
    });
  });
});

describeWithCluster("a unique violation on PostgreSQL", () => {
  it("at a commit has the columns: a deferred constraint", async () => {
    const deferred = `ALTER TABLE "User" ADD CONSTRAINT "later" UNIQUE ("email") DEFERRABLE INITIALLY DEFERRED`;
    await using opened = await openPostgreSQL([deferred]);
    const { db } = opened;
    await db.user.create({ data: { name: "ada", email: "a@b.c" } });
    const data = { name: "bob", email: "a@b.c" };
    expect(await fieldsOf(db.transaction((tx) => tx.user.create({ data })))).toEqual(["email"]);
    expect(await fieldsOf(db.$transaction((tx) => tx.user.create({ data })))).toEqual(["email"]);
    expect(await fieldsOf(db.user.create({ data }))).toEqual(["email"]);
    expect(await db.user.count()).toBe(1);
  });

  it("leaves out the columns that an index only includes", async () => {
    const including = `CREATE UNIQUE INDEX "place" ON "User" ("email") INCLUDE ("name") WHERE "email" <> ''`;
    await using opened = await openPostgreSQL([including]);
    const { db } = opened;
    await db.user.create({ data: { name: "ada", email: "a@b.c" } });
    expect(await fieldsOf(db.user.create({ data: { name: "bob", email: "a@b.c" } }))).toEqual(["email"]);
  });

  it("contains the columns of its own schema, even if other schemas have an index of the same name", async () => {
    const table = (schema: string, columns: string) =>
      `CREATE SCHEMA IF NOT EXISTS "${schema}"; ` +
      `CREATE TABLE "${schema}"."pair" ("a" INT, "b" INT); CREATE UNIQUE INDEX "pair_key" ON "${schema}"."pair" (${columns})`;
    const url = createSchema(cluster.url);
    const own = new URL(url).searchParams.get("schema") ?? "";
    await queryPostgreSQL(url, [table(own, `"b", "a"`), table(`${own}_2`, `"a", "b"`)].join(";"));
    const db = (await openClient(url)) as Database;
    expect(await fieldsOf(twice(db, `INSERT INTO "pair" VALUES (1, 2)`))).toEqual(["b", "a"]);
    await db.$disconnect();
  });

  it("has the columns if the server was away when the client was opened", async () => {
    await using opened = await openPostgreSQL();
    await cluster.stop();
    const db = await openClient(opened.url, { poolSize: 1 }, { isMigrated: false });
    await cluster.start();
    await db.user.create({ data: { name: "ada" } });
    expect(await fieldsOf(db.transaction((tx) => tx.user.create({ data: { name: "ada" } })))).toEqual(["name"]);
    await db.$disconnect();
  });
});
