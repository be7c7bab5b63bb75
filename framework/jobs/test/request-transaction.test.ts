/** Jobs and the transaction of a request, `transactionOf` of `@tsgi/prisma`. */
import { describe, expect, it } from "@jest/globals";
import { transactionOf } from "@tsgi/prisma";
import { App, Depends, HTTPException, t } from "tsgi";
import { TestClient } from "tsgi/testing";
import { openClient, openTables } from "../../prisma/test/_clients.js";
import { Jobs } from "../src/index.js";
import { CONTROL } from "../src/control.js";
import { createDatabase, createLog, describeWithDatabase } from "./_database.js";

const User = t.Object({ name: t.String(), fails: t.Boolean() });

describe("an inline job in the transaction of a request", () => {
  it("runs after the commit, and never after a rollback", async () => {
    await using tables = await openTables();
    const db = await openClient(tables.url);
    const database = Depends(async () => db, { scope: "app" });
    const transaction = transactionOf(database);
    const log = createLog();
    const jobs = new Jobs({ inline: true, logger: log });
    const seen: unknown[] = [];
    const params = { tx: Depends(transaction) };
    const welcome = jobs.define("welcome", { payload: t.String(), params, attempts: 1 }, async (args) => {
      seen.push([args.payload, await args.tx.user.count()]);
      await args.tx.user.create({ data: { name: `${args.payload} was welcomed` } });
      if (args.payload === "eve") throw new Error("no");
    });
    const app = new App({ lifespan: jobs.lifespan, logger: log });
    app.post("/users", { params: { tx: Depends(transaction), user: User } }, async ({ tx, user }) => {
      await tx.user.create({ data: { name: user.name } });
      await welcome.enqueue(user.name, { tx });
      if (user.fails) throw new HTTPException(409, "no");
    });
    const client = await TestClient.open(app);
    const post = async (name: string, fails: boolean) => (await client.post("/users").send({ name, fails })).statusCode;
    expect(await post("ada", false)).toBe(200);
    await jobs.drain();
    expect(await post("bob", true)).toBe(409);
    await jobs.drain();
    expect(await post("eve", false)).toBe(200);
    await jobs.drain();
    // The transaction of a job commits with it, and rolls back if it fails.
    expect(seen).toEqual([
      ["ada", 1],
      ["eve", 3],
    ]);
    expect(await db.user.count()).toBe(3);
    await client.close();
    await db.$disconnect();
  });
});

describeWithDatabase("a job or an event in the transaction of a request", () => {
  const tables = createDatabase();

  it("exists if it commits", async () => {
    const { pool, schema } = tables;
    const jobs = tables.open();
    const welcome = jobs.define("welcome", { payload: t.String() }, async () => {});
    const joined = jobs.event("user.joined", { payload: t.String() });
    for (const subscriber of ["mail", "search"]) joined.subscribe(subscriber, {}, async () => {});
    const database = Depends(async () => openClient(tables.url), { scope: "app" });
    const app = new App({ lifespan: jobs.lifespan, logger: createLog() });
    const transaction = transactionOf(database);
    app.post("/users", { params: { tx: Depends(transaction), user: User } }, async ({ tx, user }) => {
      const id = await welcome.enqueue(user.name, { tx });
      await joined.publish(user.name, { tx });
      const { rows } = await pool.query(`SELECT id FROM ${schema}.job`);
      expect(rows).toEqual([]);
      if (user.fails) throw new HTTPException(409, "no");
      return id;
    });
    const client = await TestClient.open(app);
    const post = (name: string, fails: boolean) => client.post("/users").send({ name, fails });
    expect((await post("bob", true)).statusCode).toBe(409);
    const { body: id } = await post("ada", false);
    const list = (await jobs[CONTROL].list()).toSorted((left, right) => (left.name < right.name ? -1 : 1));
    expect(list).toMatchObject([
      { name: "user.joined/mail", payload: "ada" },
      { name: "user.joined/search", payload: "ada" },
      { id, payload: "ada" },
    ]);
    await client.close();
  });
});
