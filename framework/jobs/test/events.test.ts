/** Events: each subscriber of one gets a job. */
import { describe, expect, it } from "@jest/globals";
import { t } from "tsgi";
import { observable } from "tsgi/internals";
import { CONTROL } from "../src/control.js";
import { InvalidPayloadError, Jobs } from "../src/index.js";
import { createDatabase, createLog, describeWithDatabase } from "./_database.js";

const Order = t.Object({ orderId: t.Integer() });
const QUICK = { backoffSeconds: 0.02 };

describe("an inline event", () => {
  it("is a job with separate attempts for each subscriber, and a failure of one does not affect the other", async () => {
    const log = createLog();
    const jobs = new Jobs({ inline: true, logger: log });
    const seen: unknown[] = [];
    const paid = jobs.event("order.paid", { payload: Order });
    paid.subscribe("receipt", { attempts: 2, ...QUICK }, async ({ payload, attempt }) => {
      seen.push(["receipt", payload.orderId, attempt]);
      throw new Error("no printer");
    });
    paid.subscribe("stock", {}, async ({ payload, attempt }) => void seen.push(["stock", payload.orderId, attempt]));
    await paid.publish({ orderId: 7 });
    await jobs.drain();
    expect(seen).toEqual([
      ["receipt", 7, 1],
      ["stock", 7, 1],
      ["receipt", 7, 2],
    ]);
    expect(log.lines).toContain("error The job order.paid/receipt is dead: attempt 2 of 2 failed.");
  });

  it("is published if its transaction commits", async () => {
    const jobs = new Jobs({ inline: true, logger: createLog() });
    const seen: string[] = [];
    const paid = jobs.event("paid", { payload: t.String() });
    paid.subscribe("one", {}, async ({ payload }) => void seen.push(`one ${payload}`));
    paid.subscribe("two", {}, async ({ payload }) => void seen.push(`two ${payload}`));
    const [first, second] = [{}, {}];
    const [commit, rollBack] = [observable(first), observable(second)];
    await paid.publish("committed", { tx: first });
    await paid.publish("rolled back", { tx: second });
    commit(true);
    rollBack(false);
    await jobs.drain();
    expect(seen).toEqual(["one committed", "two committed"]);
    await expect(paid.publish("unknown", { tx: {} })).rejects.toMatchObject({ code: "TSGI_JOBS_INLINE_TRANSACTION" });
  });

  it("leaves out a subscriber with a waiting job of its key", async () => {
    const jobs = new Jobs({ inline: true, logger: createLog() });
    const seen: string[] = [];
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const paid = jobs.event("paid", { payload: t.String() });
    paid.subscribe("slow", {}, async ({ payload }) => {
      seen.push(`slow ${payload}`);
      await held;
    });
    paid.subscribe("quick", {}, async ({ payload }) => void seen.push(`quick ${payload}`));
    await paid.publish("first", { key: "a" });
    while (seen.length < 2) await new Promise((resolve) => setImmediate(resolve));
    await paid.publish("second", { key: "a" });
    release();
    await jobs.drain();
    expect(seen).toEqual(["slow first", "quick first", "quick second"]);
  });

  it("rejects a payload that does not fit before any job is written", async () => {
    const jobs = new Jobs({ inline: true, logger: createLog() });
    const seen: unknown[] = [];
    const paid = jobs.event("order.paid", { payload: Order });
    paid.subscribe("receipt", {}, async ({ payload }) => void seen.push(payload));
    const wrong = { orderId: "7" } as unknown as { orderId: number };
    const error: unknown = await paid.publish(wrong).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InvalidPayloadError);
    expect(error).toMatchObject({
      message: expect.stringMatching(/^The payload of the event order.paid does not fit/),
    });
    const empty = jobs.event("empty");
    empty.subscribe("one", {}, async ({ payload }) => void seen.push(payload));
    await empty.publish();
    await expect((empty.publish as (payload: unknown) => Promise<void>)(1)).rejects.toThrow("The event has no payload");
    await jobs.drain();
    expect(seen).toEqual([undefined]);
  });

  it("has the name of no job and no other event", () => {
    const jobs = new Jobs({ inline: true });
    const paid = jobs.event("paid");
    jobs.define("paid/taken", {}, async () => {});
    paid.subscribe("receipt", {}, async () => {});
    const add = (name: string) => () => paid.subscribe(name, {}, async () => {});
    expect(add("receipt")).toThrow('There is a job named "paid/receipt" already.');
    expect(add("taken")).toThrow('There is a job named "paid/taken" already.');
    expect(add("two words")).toThrow("letters, digits and -_./ only");
    expect(add("x".repeat(199))).toThrow("at most 200");
    expect(() => jobs.event("paid")).toThrow('There is an event named "paid" already.');
    expect(() => jobs.define("paid", {}, async () => {})).toThrow('There is an event named "paid" already.');
    expect(() => jobs.event("paid/taken")).toThrow('There is a job named "paid/taken" already.');
    expect(() => jobs.event("refund", { payloads: Order } as object)).toThrow('The event "refund"');
    expect(() => paid.subscribe("more", { payload: Order } as object, async () => {})).toThrow('"paid/more"');
  });
});

describeWithDatabase("an event in PostgreSQL", () => {
  const database = createDatabase();
  const open = (program: string) => database.open(createLog(), { program });
  const names = async (jobs: Jobs) => (await jobs[CONTROL].list()).map(({ name }) => name).toSorted();

  it("is written for all subscribers in the caller's transaction, or not at all", async () => {
    const jobs = open("shop");
    const paid = jobs.event("order.paid", { payload: Order });
    const seen: unknown[] = [];
    paid.subscribe("receipt", { attempts: 1 }, async ({ payload }) => void seen.push(payload));
    paid.subscribe("stock", { attempts: 1 }, async () => {
      throw new Error("empty");
    });
    const client = await database.pool.connect();
    await client.query("BEGIN");
    await paid.publish({ orderId: 1 }, { tx: client });
    await client.query("ROLLBACK");
    await client.query("BEGIN");
    await paid.publish({ orderId: 2 }, { tx: client });
    await expect(names(jobs)).resolves.toEqual([]);
    await client.query("COMMIT");
    client.release();
    await expect(names(jobs)).resolves.toEqual(["order.paid/receipt", "order.paid/stock"]);
    await database.work(jobs);
    const states = async () => Object.fromEntries((await jobs[CONTROL].list()).map(({ name, state }) => [name, state]));
    while ((await states())["order.paid/stock"] !== "dead" || (await states())["order.paid/receipt"] !== "done");
    expect(seen).toEqual([{ orderId: 2 }]);
  });

  it("leaves no job in a transaction that commits after a failure", async () => {
    const jobs = open("shop");
    const paid = jobs.event("half.paid", {});
    paid.subscribe("a", {}, async () => {});
    paid.subscribe("b", {}, async () => {});
    const client = await database.pool.connect();
    let statements = 0;
    const failing = {
      query: (text: string, values?: unknown[]) => {
        if (text.includes("INSERT") && ++statements === 2) return Promise.reject(new Error("lost"));
        return client.query(text, values);
      },
    };
    await client.query("BEGIN");
    await expect(paid.publish(undefined, { tx: failing })).rejects.toThrow("lost");
    await client.query("COMMIT");
    client.release();
    await expect(names(jobs)).resolves.toEqual([]);
  });

  it("reaches subscribers of other programs, before their first worker, with their own rules", async () => {
    const shop = open("shop");
    const paid = shop.event("shared.paid", { payload: Order });
    const ledger = open("ledger");
    ledger.event("shared.paid", { payload: Order }).subscribe("book", { attempts: 9 }, async () => {});
    await ledger[CONTROL].events(); // connects without storing subscribers
    await paid.publish({ orderId: 1 });
    await expect(names(ledger)).resolves.toEqual([]);
    const worker = await database.work(ledger);
    await worker.stop();
    await paid.publish({ orderId: 2 });
    await expect(names(ledger)).resolves.toEqual(["shared.paid/book"]);
    const { rows } = await database.pool.query(`SELECT data FROM ${database.schema}.job`);
    expect(rows).toMatchObject([{ data: { payload: { orderId: 2 }, attempts: 9 } }]);
    await expect(shop[CONTROL].events()).resolves.toContainEqual({
      name: "shared.paid",
      subscribers: [{ name: "shared.paid/book", program: "ledger" }],
    });
  });

  it("leaves out a subscriber with a waiting job of its key", async () => {
    const jobs = open("keys");
    const paid = jobs.event("key.paid");
    paid.subscribe("a", {}, async () => {});
    paid.subscribe("b", {}, async () => {});
    await paid.publish(undefined, { key: "one" });
    const [first] = (await jobs[CONTROL].list()).filter(({ name }) => name === "key.paid/a");
    await jobs[CONTROL].cancel(first?.id ?? "");
    await paid.publish(undefined, { key: "one" });
    await expect(names(jobs)).resolves.toEqual(["key.paid/a", "key.paid/a", "key.paid/b"]);
  });

  it("keeps the subscribers of a program until a worker of all its queues no longer declares them", async () => {
    const subscribers = async () => {
      const events = await open("reader")[CONTROL].events();
      return events.find(({ name }) => name === "kept")?.subscribers.map(({ name }) => name);
    };
    const declare = (program: string, ...subscribed: string[]) => {
      const jobs = open(program);
      const event = jobs.event("kept");
      for (const name of subscribed) event.subscribe(name, {}, async () => {});
      return { jobs, event };
    };
    await declare("first", "a", "b").event.publish();
    await declare("second", "c").event.publish();
    expect(await subscribers()).toEqual(["kept/a", "kept/b", "kept/c"]);
    const later = declare("first", "b", "d");
    await later.event.publish();
    await database.work(later.jobs, { queues: ["kept/b"] });
    expect(await subscribers()).toEqual(["kept/a", "kept/b", "kept/c", "kept/d"]);
    await database.work(later.jobs);
    expect(await subscribers()).toEqual(["kept/b", "kept/c", "kept/d"]);
  });

  it("rejects a subscriber that another program has", async () => {
    const declare = (jobs: Jobs) => {
      const event = jobs.event("once");
      event.subscribe("a", {}, async () => {});
      return event;
    };
    await declare(open("one")).publish();
    const two = open("two");
    const code = "TSGI_SUBSCRIBER_OF_ANOTHER_PROGRAM";
    await expect(declare(two).publish()).rejects.toMatchObject({ name: "ConfigurationError", code });
    await expect(two.work()).rejects.toMatchObject({ name: "ConfigurationError", code });
    await declare(open("one")).publish();
  });
});
