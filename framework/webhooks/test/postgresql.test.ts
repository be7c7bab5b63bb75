/** Deliveries in PostgreSQL. */
import { randomUUID } from "node:crypto";
import { afterAll, expect, it } from "@jest/globals";
import { Pool } from "pg";
import { transactionOf } from "@tsgi/prisma";
import { App, Depends, HTTPException, Query, t } from "tsgi";
import { TestClient } from "tsgi/testing";
import { openClient } from "../../prisma/test/_clients.js";
import { CONTROL } from "../../jobs/src/control.js";
import { createDatabase, describeWithDatabase } from "../../jobs/test/_database.js";
import { type Endpoint, Webhooks } from "../src/index.js";
import { DeliveriesInPostgreSQL } from "../src/deliveries.js";
import { createLog, LOOPBACK, openReceiver, SECRET, status } from "./_receiver.js";

const EVENTS = { "order.paid": t.Object({ orderId: t.Integer() }) };

describeWithDatabase("a delivery in PostgreSQL", () => {
  const database = createDatabase();
  const owners: string[] = [];
  afterAll(async () => {
    const pool = new Pool({ connectionString: database.url });
    await pool.query("DELETE FROM tsgi_webhook_deliveries WHERE owner = ANY($1)", [owners]);
    await pool.end();
  });

  /** Webhooks of one program, for an owner that no other test has. */
  function open(url: string, options: { attempts?: number } = {}) {
    const owner = randomUUID();
    owners.push(owner);
    const endpoint: Endpoint = { id: owner, url, secrets: [SECRET], events: ["order.paid"] };
    const jobs = database.open(createLog(), { program: "shop" });
    const webhooks = new Webhooks({
      jobs,
      events: EVENTS,
      endpoints: async () => [endpoint],
      endpoint: async () => endpoint,
      allow: LOOPBACK,
      backoffSeconds: 0.01,
      ...options,
    });
    const send = (tx?: object) => webhooks.send("order.paid", { orderId: 1 }, tx ? { owner, tx } : { owner });
    const settled = async () => {
      for (;;) {
        const list = await webhooks.deliveries({ owner });
        if (list.length > 0 && list.every(({ state }) => state !== "pending")) return list;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    return { owner, jobs, webhooks, send, settled };
  }

  it("is written with its job in the caller's transaction, and delivered by a worker", async () => {
    await using receiver = await openReceiver(status(500), status(200));
    const { owner, jobs, webhooks, send, settled } = open(receiver.url);
    const client = await database.pool.connect();
    await client.query("BEGIN");
    await send(client);
    await client.query("ROLLBACK");
    await client.query("BEGIN");
    await client.query("SET LOCAL search_path = pg_catalog");
    const [id] = await send(client);
    expect(await webhooks.deliveries({ owner })).toEqual([]);
    await client.query("COMMIT");
    client.release();
    expect(await webhooks.deliveries({ owner })).toEqual([
      {
        id,
        event: "order.paid",
        endpoint: owner,
        state: "pending",
        attempts: 0,
        status: null,
        reason: null,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
    ]);
    await database.work(jobs);
    expect(await settled()).toMatchObject([{ id, state: "delivered", attempts: 2, status: 200, reason: null }]);
    expect(receiver.received.map(({ headers }) => headers["webhook-id"])).toEqual([id, id]);
    const { rows } = await database.pool.query(
      `SELECT data FROM ${database.schema}.job WHERE name = 'webhooks/deliver'`,
    );
    expect(JSON.stringify(rows)).not.toContain(SECRET.slice(-20));
  });

  it("is written in the transaction of a request, by Prisma", async () => {
    const { owner, jobs, webhooks } = open("https://localhost");
    const prisma = Depends(async () => openClient(database.url), { scope: "app" });
    const app = new App({ lifespan: jobs.lifespan, logger: createLog() });
    const params = { tx: Depends(transactionOf(prisma)), fails: Query(t.Boolean()) };
    app.post("/payments", { params }, async ({ tx, fails }) => {
      await webhooks.send("order.paid", { orderId: 1 }, { owner, tx });
      if (fails) throw new HTTPException(409, "no");
    });
    await using client = await TestClient.open(app);
    expect((await client.post("/payments?fails=true")).statusCode).toBe(409);
    expect(await webhooks.deliveries({ owner })).toEqual([]);
    expect((await client.post("/payments?fails=false")).statusCode).toBe(200);
    expect(await webhooks.deliveries({ owner })).toMatchObject([{ state: "pending" }]);
  });

  it("is written with its job or not at all without a transaction", async () => {
    const { owner, jobs, webhooks, send } = open("https://localhost");
    await send();
    await database.pool.query(
      `ALTER TABLE ${database.schema}.job_common ADD CONSTRAINT none CHECK (state <> 'created') NOT VALID`,
    );
    try {
      await expect(send()).rejects.toThrow("none");
    } finally {
      await database.pool.query(`ALTER TABLE ${database.schema}.job_common DROP CONSTRAINT none`);
    }
    expect(await webhooks.deliveries({ owner })).toHaveLength(1);
    await jobs.close();
  });

  it("is sent again for its owner only, and its earlier job has no effect", async () => {
    await using receiver = await openReceiver();
    const { owner, jobs, webhooks, send, settled } = open(receiver.url);
    const [id = ""] = await send();
    expect(await webhooks.redeliver(id, randomUUID())).toBe(false);
    expect(await webhooks.redeliver(id, owner)).toBe(true);
    await database.work(jobs);
    expect(await settled()).toMatchObject([{ id, state: "delivered", attempts: 1 }]);
    expect(await webhooks.redeliver(id, owner)).toBe(true);
    while (receiver.received.length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await settled()).toMatchObject([{ id, state: "delivered", attempts: 2 }]);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  });

  it("is a dead job with the reason if its endpoint must not be reached", async () => {
    const { jobs, send, settled } = open("https://10.0.0.1/");
    await send();
    await database.work(jobs);
    expect(await settled()).toMatchObject([{ state: "refused", reason: "The address of 10.0.0.1 is not public" }]);
    const dead = async () => (await jobs[CONTROL].list()).find(({ state }) => state === "dead");
    while ((await dead()) === undefined);
    expect(await dead()).toMatchObject({ attempt: 1, reason: "The address of 10.0.0.1 is not public" });
  });

  it("is listed by 100, the newest first, after an id of its owner", async () => {
    const { owner, webhooks, send } = open("https://localhost");
    const client = await database.pool.connect();
    await client.query("BEGIN");
    const ids: string[] = [];
    for (let count = 0; count < 102; count++) ids.unshift(...(await send(client)));
    await client.query("COMMIT");
    client.release();
    const page = await webhooks.deliveries({ owner });
    expect(page.map(({ id }) => id)).toEqual(ids.slice(0, 100));
    const after = ids[99] ?? "";
    expect((await webhooks.deliveries({ owner, after })).map(({ id }) => id)).toEqual(ids.slice(100));
    expect(await webhooks.deliveries({ owner: randomUUID(), after })).toEqual([]);
  });

  it("is removed after 30 days, by a job that is scheduled hourly", async () => {
    const { owner, jobs, webhooks, send } = open("https://localhost");
    const [old, young] = [...(await send()), ...(await send())];
    const age = (id: string | undefined, days: number) =>
      database.pool.query(
        `UPDATE tsgi_webhook_deliveries SET created_at = now() - make_interval(days => $2, mins => 1) WHERE id = $1`,
        [id, days],
      );
    await age(old, 30);
    await age(young, 29);
    const { database: connection } = jobs[CONTROL];
    if (connection !== null) await new DeliveriesInPostgreSQL(connection).removeOld();
    expect(await webhooks.deliveries({ owner })).toMatchObject([{ id: young }]);
    expect(jobs[CONTROL].schedules).toContainEqual({
      name: "webhooks/hourly",
      cron: "0 * * * *",
      timezone: "UTC",
      job: "webhooks/cleanup",
    });
  });
});
