import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { type Cluster, startCluster, WITHOUT_CLUSTER } from "../../test/support/postgres-cluster.js";
import { startPgBouncer, WITHOUT_PGBOUNCER } from "../../test/support/pgbouncer.js";
import { UnavailableError } from "../src/index.js";
import { createSchema, NOON, openClient, TIMES } from "./_clients.js";

const MISSING = WITHOUT_CLUSTER ?? WITHOUT_PGBOUNCER;

/** The raw queries of a generated client. */
interface Raw {
  $queryRawUnsafe(sql: string, ...values: unknown[]): Promise<object[]>;
}
const SETTINGS = `SELECT current_setting('search_path') AS path, current_setting('statement_timeout') AS timeout`;

let cluster: Cluster;
beforeAll(async () => {
  if (MISSING === null) cluster = await startCluster({ timezone: "America/New_York" });
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
});

const describeWithPgBouncer = MISSING === null ? describe : describe.skip;

describeWithPgBouncer.each([
  ["refuses start-up parameters", {}],
  ["ignores start-up parameters", { ignore_startup_parameters: "statement_timeout, options, extra_float_digits" }],
  ["has one connection", { default_pool_size: 1 }],
])(`a PgBouncer that %s${MISSING === null ? "" : ` (${MISSING})`}`, (_, settings) => {
  /** A client with a separate schema, through one PgBouncer. */
  async function openShop() {
    const pooler = await startPgBouncer(cluster.url, settings);
    const url = createSchema(pooler.url);
    const db = await openClient(url, { waitMs: 1_000, poolSize: 3 });
    return {
      db,
      raw: db as unknown as Raw,
      schema: new URL(url).searchParams.get("schema"),
      [Symbol.asyncDispose]: async () => {
        await db.$disconnect();
        await pooler[Symbol.asyncDispose]();
      },
    };
  }

  it("migrates, queries models, and runs transactions", async () => {
    await using shop = await openShop();
    await shop.db.user.create({ data: { name: "ada" } });
    await shop.db.transaction(async (tx) => {
      await tx.user.create({ data: { name: "bob", pens: { create: { name: "quill" } } } });
    });
    expect([await shop.db.user.count(), await shop.db.pen.count()]).toEqual([2, 1]);
  });

  it("reads and writes times unchanged, in transactions and outside of them, in any time zone of the server", async () => {
    await using shop = await openShop();
    const both = (on: unknown) => (on as Raw).$queryRawUnsafe(TIMES, NOON);
    const results = await Promise.all([both(shop.db), both(shop.db), both(shop.db), shop.db.transaction(both)]);
    expect(results).toEqual(Array.from({ length: 4 }, () => [{ read: NOON, isWritten: true }]));
  });

  it("has the schema and the time limit in each transaction, and in no other", async () => {
    await using shop = await openShop();
    const inside = await shop.db.transaction((tx) => (tx as unknown as Raw).$queryRawUnsafe(SETTINGS));
    expect(inside).toEqual([{ path: `"${shop.schema}"`, timeout: "1s" }]);
    expect(await shop.raw.$queryRawUnsafe(SETTINGS)).toEqual([{ path: '"$user", public', timeout: "0" }]);
  });

  it("ends a statement of a transaction after its time", async () => {
    await using shop = await openShop();
    const work = shop.db.transaction((tx) => (tx as unknown as Raw).$queryRawUnsafe("SELECT 1 FROM pg_sleep(60)"));
    await expect(work).rejects.toThrow(UnavailableError);
    expect(await shop.db.user.count()).toBe(0);
  });
});
