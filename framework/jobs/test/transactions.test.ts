/** The transactions of other libraries. Drizzle and Kysely are fetched on demand, so these tests are slow. */
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, expect, it } from "@jest/globals";
import { Pool } from "pg";
import { t } from "tsgi";
import { installOnDemand, IS_SLOW } from "../../test/support/on-demand.js";
import { CONTROL } from "../src/control.js";
import { createDatabase, describeWithDatabase } from "./_database.js";

/** Runs work in a transaction that commits, or rolls back if it throws. */
type Transaction = (work: (tx: object) => Promise<unknown>) => Promise<unknown>;

const slow = IS_SLOW ? it : it.skip;

describeWithDatabase("a job in a transaction", () => {
  const database = createDatabase();
  const pool = () => new Pool({ connectionString: database.url, max: 1 });

  /** Checks that a job exists if its transaction commits, and only then. */
  async function checkTransaction(transact: Transaction) {
    const jobs = database.open();
    const note = jobs.define("note", { payload: t.String() }, async () => {});
    const noted = jobs.event("noted");
    for (const subscriber of ["a", "b"]) noted.subscribe(subscriber, {}, async () => {});
    const failure = new Error("rolled back");
    const failing = transact(async (tx) => {
      await note.enqueue("rolled back", { tx });
      await noted.publish(undefined, { tx });
      throw failure;
    });
    await expect(failing).rejects.toBe(failure);
    let id: string | null = null;
    await transact(async (tx) => {
      id = await note.enqueue("committed", { tx, key: "a" });
      await expect(note.enqueue("second", { tx, key: "a" })).resolves.toBeNull();
      await expect(jobs[CONTROL].list()).resolves.toEqual([]);
    });
    await expect(jobs[CONTROL].list()).resolves.toMatchObject([{ id, payload: "committed" }]);
    await transact((tx) => noted.publish(undefined, { tx }));
    expect((await jobs[CONTROL].list()).map(({ name }) => name).toSorted()).toEqual(["note", "noted/a", "noted/b"]);
  }

  let home = "";
  beforeAll(() => {
    if (IS_SLOW) home = installOnDemand("orms", ["drizzle-orm@0.45.4", "kysely@0.29.9", "pg@8.23.1"]);
  });
  const load = (name: string) => {
    const require = createRequire(path.join(home, "package.json"));
    return import(pathToFileURL(require.resolve(name)).href) as Promise<Record<string, never>>;
  };

  it("of pg exists if it commits", async () => {
    const client = await database.pool.connect();
    const check = checkTransaction(async (work) => {
      await client.query("BEGIN");
      try {
        await work(client);
        await client.query("COMMIT");
      } catch (error) {
        await client.query("ROLLBACK");
        throw error;
      }
    });
    await expect(check).resolves.toBeUndefined();
    client.release();
  });

  slow("of Kysely exists if it commits", async () => {
    const { Kysely, PostgresDialect } = (await load("kysely")) as unknown as {
      Kysely: new (options: object) => { transaction(): { execute: Transaction }; destroy(): Promise<void> };
      PostgresDialect: new (options: object) => object;
    };
    const db = new Kysely({ dialect: new PostgresDialect({ pool: pool() }) });
    await expect(checkTransaction((work) => db.transaction().execute(work))).resolves.toBeUndefined();
    await db.destroy();
  });

  slow("of Drizzle exists if it commits", async () => {
    const { drizzle } = (await load("drizzle-orm/node-postgres")) as unknown as {
      drizzle: (client: Pool) => { transaction: Transaction };
    };
    const client = pool();
    const db = drizzle(client);
    await expect(checkTransaction((work) => db.transaction(work))).resolves.toBeUndefined();
    await client.end();
  });
});
