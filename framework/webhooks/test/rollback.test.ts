/** A release is deployed, rolled back and deployed again, with jobs, events and deliveries in flight. */
import { randomUUID } from "node:crypto";
import { afterAll, expect, it } from "@jest/globals";
import { Pool } from "pg";
import { t } from "tsgi";
import { CONTROL } from "../../jobs/src/control.js";
import { createDatabase, createLog, describeWithDatabase } from "../../jobs/test/_database.js";
import { type Endpoint, Webhooks } from "../src/index.js";
import { LOOPBACK, openReceiver, SECRET } from "./_receiver.js";

describeWithDatabase("a deployment", () => {
  const database = createDatabase();
  const owner = randomUUID();
  const seen: string[] = [];
  afterAll(async () => {
    const pool = new Pool({ connectionString: database.url });
    await pool.query("DELETE FROM tsgi_webhook_deliveries WHERE owner = $1", [owner]);
    await pool.end();
  });

  /** Both releases send to this endpoint. */
  function webhooksOf<const Events extends ConstructorParameters<typeof Webhooks>[0]["events"]>(
    jobs: ReturnType<typeof database.open>,
    url: string,
    events: Events,
  ) {
    const endpoint: Endpoint = { id: owner, url, secrets: [SECRET], events: ["order.paid", "order.lost"] };
    const common = { endpoints: () => [endpoint], endpoint: () => endpoint, allow: LOOPBACK, backoffSeconds: 0.05 };
    return new Webhooks({ jobs, events, ...common });
  }

  /** The release that works. */
  function older(url: string) {
    const jobs = database.open(createLog(), { program: "shop" });
    const mail = jobs.define("mail", { payload: t.Object({ to: t.String() }) }, async ({ payload }) => {
      seen.push(`older mail ${JSON.stringify(payload)}`);
    });
    const paid = jobs.event("paid", { payload: t.Object({ id: t.Integer() }) });
    paid.subscribe("receipt", {}, async ({ payload }) => void seen.push(`older receipt ${JSON.stringify(payload)}`));
    const webhooks = webhooksOf(jobs, url, { "order.paid": t.Object({ id: t.Integer() }) });
    return { jobs, mail, paid, webhooks };
  }

  /** The next release: an optional property, a job, a subscriber and an event more. */
  function newer(url: string) {
    const jobs = database.open(createLog(), { program: "shop" });
    const Mail = t.Object({ to: t.String(), language: t.Optional(t.String()) });
    const mail = jobs.define("mail", { payload: Mail, attempts: 9 }, async ({ payload }) => {
      seen.push(`newer mail ${JSON.stringify(payload)}`);
    });
    const image = jobs.define("image", {}, async () => void seen.push("newer image"));
    const Paid = t.Object({ id: t.Integer(), currency: t.Optional(t.String()) });
    const paid = jobs.event("paid", { payload: Paid });
    paid.subscribe("receipt", {}, async ({ payload }) => void seen.push(`newer receipt ${JSON.stringify(payload)}`));
    paid.subscribe("stock", {}, async ({ payload }) => void seen.push(`newer stock ${payload.id}`));
    const webhooks = webhooksOf(jobs, url, { "order.paid": Paid, "order.lost": Paid });
    return { jobs, mail, image, paid, webhooks };
  }

  /** Runs a worker until no job that it knows waits. */
  async function work({ jobs }: { jobs: ReturnType<typeof database.open> }) {
    const worker = await database.work(jobs);
    const isOpen = async () =>
      (await jobs[CONTROL].list()).some(({ state }) => state !== "done" && state !== "cancelled");
    while (await isOpen()) await new Promise((resolve) => setTimeout(resolve, 20));
    await worker.stop();
  }

  it("can be rolled back and repeated without losing jobs, keys, events and deliveries", async () => {
    await using receiver = await openReceiver();
    const first = older(receiver.url);
    await first.mail.enqueue({ to: "ada" }, { key: "ada" });
    await first.paid.publish({ id: 1 });
    const [delivery = ""] = await first.webhooks.send("order.paid", { id: 1 }, { owner });

    const second = newer(receiver.url);
    await expect(second.mail.enqueue({ to: "ada" }, { key: "ada" })).resolves.toBeNull();
    await second.mail.enqueue({ to: "bob", language: "de" });
    await second.image.enqueue();
    await second.paid.publish({ id: 2, currency: "EUR" });
    await second.webhooks.send("order.lost", { id: 2, currency: "EUR" }, { owner });

    const rolledBack = older(receiver.url);
    await work(rolledBack);
    expect(seen.splice(0).toSorted()).toEqual([
      'older mail {"to":"ada"}',
      'older mail {"to":"bob"}',
      'older receipt {"id":1}',
      'older receipt {"id":2}',
    ]);
    expect(receiver.received.map(({ body }) => (JSON.parse(body) as { type: string }).type).toSorted()).toEqual([
      "order.lost",
      "order.paid",
    ]);
    await rolledBack.paid.publish({ id: 3 });
    await expect(rolledBack.webhooks.redeliver(delivery, owner)).resolves.toBe(true);

    const again = newer(receiver.url);
    await again.paid.publish({ id: 4 });
    await work(again);
    expect(seen.toSorted()).toEqual([
      "newer image",
      'newer receipt {"id":3}',
      'newer receipt {"id":4}',
      "newer stock 2", // it waited; the release without this subscriber published 3
      "newer stock 4",
    ]);
    expect(receiver.received).toHaveLength(3);
    const { rows } = await database.pool.query(`SELECT name FROM ${database.schema}.job WHERE state <> 'completed'`);
    expect(rows).toEqual([]);
    const deliveries = await again.webhooks.deliveries({ owner });
    expect(deliveries.map(({ state }) => state)).toEqual(["delivered", "delivered"]);
  });
});
