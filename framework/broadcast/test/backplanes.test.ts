import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { Redis } from "ioredis";
import { setTimeout } from "node:timers/promises";
import { Deferred } from "tsgi/internals";
import { startRedis } from "../../test/support/redis-server.js";
import { Broadcast, redisBackplane, UnavailableError } from "../src/index.js";
import { openRedis } from "../src/open-redis.js";
import { RedisBackplane } from "../src/redis-backplane.js";
import { type Kind, POSTGRESQL, REDIS, type Server } from "./_servers.js";

/** Takes so many messages of a subscription. */
async function take<Message>(messages: AsyncIterator<Message>, count: number): Promise<Message[]> {
  const taken: Message[] = [];
  while (taken.length < count) {
    const step = await messages.next();
    if (step.done) break;
    taken.push(step.value);
  }
  return taken;
}

for (const kind of [REDIS, POSTGRESQL]) {
  kind.describe(`a broadcast over ${kind.name}`, () => testDelivery(kind));
  kind.describe(`an outage of ${kind.name}`, () => testOutage(kind));
}

/** A broadcast that is connected. On a machine that is busy this takes longer than a command may take. */
async function openBroadcast(server: Server): Promise<Broadcast> {
  const broadcast = new Broadcast({ backplane: server.connect() });
  for (;;) {
    try {
      using _ = await broadcast.subscribe("ready");
      return broadcast;
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
    }
  }
}

function testDelivery({ start }: Kind): void {
  let server: Server;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  const open = () => openBroadcast(server);

  it("delivers each message to the subscribers of its topic in all processes", async () => {
    const [one, two] = [await open(), await open()];
    const here = await one.subscribe("news");
    const there = await two.subscribe("news");
    const other = await two.subscribe("weather");
    await one.publish("news", { id: 1 });
    await two.publish("news", "two");
    await one.publish("weather", [3]);
    expect(await take(here, 2)).toEqual(expect.arrayContaining([{ id: 1 }, "two"]));
    expect(await take(there, 2)).toEqual(expect.arrayContaining([{ id: 1 }, "two"]));
    expect(await take(other, 1)).toEqual([[3]]);
    await Promise.all([one.close(), two.close()]);
  });

  it("keeps the order of a publisher", async () => {
    const [one, two] = [await open(), await open()];
    const messages = await two.subscribe("numbers", { buffer: 1_000 });
    const sent = Array.from({ length: 1_000 }, (_, index) => index);
    await Promise.all(sent.map((number) => one.publish("numbers", number)));
    expect(await take(messages, 1_000)).toEqual(sent);
    await Promise.all([one.close(), two.close()]);
  });

  it("delivers a message that is published right after the subscription settles", async () => {
    const [one, two] = [await open(), await open()];
    for (let round = 0; round < 50; round++) {
      const messages = await two.subscribe(`round ${round}`);
      await one.publish(`round ${round}`, round);
      expect(await take(messages, 1)).toEqual([round]);
      await messages.return();
    }
    await Promise.all([one.close(), two.close()]);
  });

  it("subscribes again to a topic whose last subscriber has just left", async () => {
    const [one, two] = [await open(), await open()];
    for (let round = 0; round < 50; round++) {
      using leaving = await two.subscribe("room");
      leaving[Symbol.dispose]();
      using messages = await two.subscribe("room");
      await one.publish("room", round);
      expect(await take(messages, 1)).toEqual([round]);
    }
    await Promise.all([one.close(), two.close()]);
  });

  it("carries any topic and any JSON", async () => {
    const [one, two] = [await open(), await open()];
    const values = ["", "ünï€😀", "\u0000\u2028\n", null, [], { a: { b: "'\"\\" } }, 1e300, false];
    for (const topic of ["", "a b", "ü😀", '["x",1]', "room:'1'"]) {
      const messages = await two.subscribe(topic);
      for (const value of values) await one.publish(topic, value);
      expect(await take(messages, values.length)).toEqual(values);
    }
    await Promise.all([one.close(), two.close()]);
  });
}

function testOutage({ start }: Kind): void {
  it("fails publishers and new subscribers immediately, and reports a gap when it is available again", async () => {
    await using server = await start();
    const [one, two] = [await openBroadcast(server), await openBroadcast(server)];
    const gaps: object[] = [];
    const restored = [new Deferred<void>(), new Deferred<void>()] as const;
    const onGap = (index: 0 | 1) => (gap: object) => {
      gaps.push(gap);
      restored[index].resolve();
    };
    const a = await one.subscribe("a", { onGap: onGap(0) });
    const b = await two.subscribe("b", { onGap: onGap(1) });
    await server.stop();
    await expect(one.publish("b", "lost")).rejects.toMatchObject({ name: "UnavailableError", statusCode: 503 });
    await expect(two.subscribe("c")).rejects.toBeInstanceOf(UnavailableError);
    expect(gaps).toEqual([]);
    await server.start();
    await Promise.all(restored.map(({ promise }) => promise));
    expect(gaps).toEqual([{ missed: true }, { missed: true }]);
    await one.publish("b", "after");
    await two.publish("a", "after");
    expect(await take(b, 1)).toEqual(["after"]);
    expect(await take(a, 1)).toEqual(["after"]);
    await Promise.all([one.close(), two.close()]);
  });

  it("fails a publisher within a second if the server hangs", async () => {
    await using server = await start();
    const broadcast = await openBroadcast(server);
    await broadcast.publish("a", "before");
    server.freeze();
    const startedAt = performance.now();
    await expect(broadcast.publish("a", "frozen")).rejects.toBeInstanceOf(UnavailableError);
    expect(performance.now() - startedAt).toBeGreaterThan(500);
    server.thaw();
    await broadcast.close();
  });
}

REDIS.describe("an outage of Redis after which the connection that publishes is back last", () => {
  it("is reported once a message can be published", async () => {
    await using listened = await startRedis();
    await using commanded = await startRedis();
    const connections = { listener: () => openRedis(listened.path), commander: () => openRedis(commanded.path) };
    const backplane = new RedisBackplane(connections, "");
    const restored = new Deferred<string>();
    await backplane.open({ message: () => {}, restored: () => restored.resolve("restored") });
    await backplane.subscribe("a");
    await backplane.publish("a", "1");
    await Promise.all([listened.stop(), commanded.stop()]);
    await expect(backplane.subscribe("b")).rejects.toBeInstanceOf(UnavailableError);
    await listened.start();
    while (!(await isSettled(backplane.subscribe("b")))) await setTimeout(10);
    expect(await Promise.race([restored.promise, setTimeout(0, "not yet")])).toBe("not yet");
    await commanded.start();
    await restored.promise;
    await backplane.publish("a", "2");
    await backplane.close();
  });
});

REDIS.describe("a burst of messages over Redis", () => {
  it("reaches a subscriber that is fast enough, although it is longer than the buffer", async () => {
    await using server = await startRedis();
    const broadcast = new Broadcast<{ news: number }>({ backplane: redisBackplane(server.path) });
    using messages = await broadcast.subscribe("news", { buffer: 4 });
    const received = take(messages, 2_000);
    const client = new Redis(server.path);
    const commands = client.pipeline(); // Redis sends them together
    for (let number = 1; number <= 2_000; number++) commands.publish("tsgi:broadcast:news", String(number));
    await commands.exec();
    expect((await received).at(-1)).toBe(2_000);
    client.disconnect();
    await broadcast.close();
  });
});

function isSettled(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  );
}

describe("a broadcast whose server has never been there", () => {
  it("fails with 503 and Retry-After, and the reason as the cause", async () => {
    const broadcast = new Broadcast({ backplane: redisBackplane("redis://127.0.0.1:1") });
    const error = await broadcast.publish("a", 1).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ statusCode: 503, headers: { "retry-after": "1" }, detail: "Service Unavailable" });
    expect(String((error as Error).cause)).toContain("ECONNREFUSED");
    await broadcast.close();
  });
});

POSTGRESQL.describe("a message on PostgreSQL", () => {
  it("of 8,000 bytes or more is rejected with both numbers", async () => {
    await using server = await POSTGRESQL.start();
    const broadcast = new Broadcast<{ a: string }>({ backplane: server.connect() });
    const messages = await broadcast.subscribe("a");
    // ["a","…"] has 8 bytes around the text.
    await expect(broadcast.publish("a", "x".repeat(7_992))).rejects.toThrow(/has 8000 bytes .* less than 8000/);
    await broadcast.publish("a", "x".repeat(7_991));
    expect((await take(messages, 1))[0]).toHaveLength(7_991);
    await broadcast.close();
  });
});
