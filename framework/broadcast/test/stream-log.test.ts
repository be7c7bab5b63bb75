import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { Redis } from "ioredis";
import { App, event, t } from "tsgi";
import { Deferred, nextTurn } from "tsgi/internals";
import { TestClient } from "tsgi/testing";
import { collectGarbage } from "../../test/support/garbage.js";
import { KeptLog } from "../../test/support/kept-log.js";
import { HAS_REDIS, type RedisServer, startRedis } from "../../test/support/redis-server.js";
import { StreamFailedError, StreamLog, type StreamLogOptions } from "../src/index.js";

const quiet = new KeptLog();

/** All items of a stream. */
async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/** The first items of a stream. */
async function take<Item>(items: AsyncIterable<Item>, count: number): Promise<Item[]> {
  const taken: Item[] = [];
  for await (const item of items) {
    taken.push(item);
    if (taken.length === count) break;
  }
  return taken;
}

/** Waits for the end of a producer. */
async function ended(log: StreamLog, id: string): Promise<void> {
  while ((await log.status(id)) === "running") await nextTurn();
}

/** A producer whose items the test sends. */
function manual<Data>() {
  const items: Deferred<Data | null>[] = [new Deferred()];
  const aborted = new Deferred<unknown>();
  const cleanedUp = new Deferred<void>();
  async function* generate(signal: AbortSignal) {
    signal.addEventListener("abort", () => aborted.resolve(signal.reason));
    const over = new Promise<null>((resolve) => signal.addEventListener("abort", () => resolve(null)));
    try {
      for (let index = 0; ; index++) {
        const data = await Promise.race([items[index]?.promise ?? null, over]);
        if (data === null) return;
        yield data;
      }
    } finally {
      cleanedUp.resolve();
    }
  }
  return {
    aborted: aborted.promise,
    cleanedUp: cleanedUp.promise,
    send: (data: Data | null) => {
      items.at(-1)?.resolve(data);
      items.push(new Deferred());
    },
    produce: ({ signal }: { signal: AbortSignal }) => generate(signal),
  };
}

/** Why a store cannot be tested here. */
const MISSING = HAS_REDIS ? "" : " (redis-server is not installed)";
const STORES = [
  { name: "memory", describeStore: describe },
  { name: `Redis${MISSING}`, describeStore: HAS_REDIS ? describe : describe.skip },
];

for (const { name, describeStore } of STORES) describeStore(`a stream log in ${name}`, () => testStore(name));

function testStore(name: string): void {
  let server: RedisServer | null = null;
  const logs: StreamLog[] = [];
  let ids = 0;
  const newId = () => `stream ${ids++} {ü}`;

  beforeAll(async () => {
    if (name !== "memory") server = await startRedis();
  });
  afterAll(async () => {
    await Promise.all(logs.map((log) => log.close()));
    await server?.[Symbol.asyncDispose]();
  });

  function open(options: Partial<StreamLogOptions> = {}): StreamLog {
    const place = server === null ? { memory: true } : { redis: server.path };
    const log = new StreamLog({ ...place, logger: quiet, ...options });
    logs.push(log);
    return log;
  }
  /** Another machine, if the store is not the memory of this one. */
  const another = (log: StreamLog) => (server === null ? log : open());

  it("yields each event with its number, and ends with the producer", async () => {
    const [log, id] = [open(), newId()];
    await log.start(id, async function* () {
      yield "one";
      yield { two: 2 };
      yield null;
    });
    const events = await collect(another(log).read(id));
    expect(events).toEqual([
      { id: "1", data: "one" },
      { id: "2", data: { two: 2 } },
      { id: "3", data: null },
    ]);
    expect(await log.status(id)).toBe("done");
  });

  it("runs a producer to its end without a reader", async () => {
    const [log, id, producer] = [open(), newId(), manual<number>()];
    await log.start(id, producer.produce);
    producer.send(1);
    producer.send(null);
    await producer.cleanedUp;
    expect(await collect(log.read(id))).toEqual([{ id: "1", data: 1 }]);
  });

  it("continues after any event without a gap or a double, while the producer runs", async () => {
    const [log, id, producer] = [open(), newId(), manual<number>()];
    await log.start(id, producer.produce);
    const total = 60;
    for (let number = 1; number <= 30; number++) producer.send(number);
    await take(log.read(id), 30);
    const readers = Array.from({ length: 15 }, (_, index) => collect(another(log).read(id, { after: index * 2 })));
    for (let number = 31; number <= total; number++) producer.send(number);
    producer.send(null);
    for (const [index, events] of (await Promise.all(readers)).entries()) {
      const expected = Array.from({ length: total - index * 2 }, (_, at) => index * 2 + at + 1);
      expect(events.map(({ data }) => data)).toEqual(expected);
      expect(events.map((one) => Number(one.id))).toEqual(expected);
    }
  });

  it("does not abort the signal of a producer that has ended by itself", async () => {
    const [log, id] = [open(), newId()];
    const started = new Deferred<AbortSignal>();
    await log.start(id, async function* ({ signal }) {
      started.resolve(signal);
      yield 1;
    });
    const signal = await started.promise;
    await collect(log.read(id));
    await log.close(); // settles after the log knows the end
    expect(signal.aborted).toBe(false);
  });

  it("keeps the names of events", async () => {
    const [log, id] = [open(), newId()];
    await log.start(id, async function* () {
      yield event({ event: "token", data: "a" });
    });
    expect(await collect(log.read(id))).toEqual([{ id: "1", event: "token", data: "a" }]);
  });

  it("rejects a second start of an id with 409, even after the stream has ended", async () => {
    const [log, id] = [open(), newId()];
    const start = (by: StreamLog) =>
      by.start(id, async function* () {
        yield 1;
      });
    await start(log);
    await expect(start(another(log))).rejects.toMatchObject({ statusCode: 409 });
    await collect(log.read(id));
    await expect(start(log)).rejects.toMatchObject({ statusCode: 409 });
    expect(await collect(log.read(id))).toEqual([{ id: "1", data: 1 }]);
  });

  it("starts an id once, however many try at the same time", async () => {
    const [log, id] = [open(), newId()];
    const other = another(log);
    const attempts = Array.from({ length: 20 }, (_, index) =>
      (index % 2 ? log : other).start(id, async function* () {
        yield index;
      }),
    );
    const settled = await Promise.allSettled(attempts);
    expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await collect(log.read(id))).toHaveLength(1);
  });

  it("stops a producer on another machine, and ends its readers", async () => {
    const [log, id, producer] = [open(), newId(), manual<number>()];
    await log.start(id, producer.produce);
    producer.send(1);
    const other = another(log);
    const reader = other.read(id)[Symbol.asyncIterator]();
    expect((await reader.next()).value).toEqual({ id: "1", data: 1 });
    expect(await other.stop(id)).toBe(true);
    expect(await producer.aborted).toMatchObject({ name: "AbortError" });
    await producer.cleanedUp;
    expect(await reader.next()).toEqual({ done: true, value: undefined });
    expect([await log.status(id), await log.stop(id)]).toEqual(["stopped", false]);
  });

  it("fails readers after the last event if the producer throws", async () => {
    const [log, id] = [open(), newId()];
    await log.start(id, async function* () {
      yield 1;
      throw new Error("broken");
    });
    const received: unknown[] = [];
    const reading = (async () => {
      for await (const { data } of another(log).read(id)) received.push(data);
    })();
    await expect(reading).rejects.toBeInstanceOf(StreamFailedError);
    expect([received, await log.status(id)]).toEqual([[1], "failed"]);
    expect(quiet.lines.at(-1)).toContain("failed");
  });

  it("fails a stream whose item is not JSON", async () => {
    const [log, id] = [open(), newId()];
    await log.start(id, async function* () {
      yield () => {};
    });
    await expect(collect(log.read(id))).rejects.toBeInstanceOf(StreamFailedError);
  });

  it("aborts its producers when it closes, and their readers elsewhere fail", async () => {
    const [log, id, producer] = [open(), newId(), manual<number>()];
    await log.start(id, producer.produce);
    producer.send(1);
    const reader = another(log).read(id)[Symbol.asyncIterator]();
    await reader.next();
    await log.close();
    await producer.cleanedUp;
    const step = await reader.next().catch((error: unknown) => error);
    expect(step).toBeInstanceOf(StreamFailedError);
  });

  it("rejects another owner, and a missing one, with 403 in each method", async () => {
    const [log, id, producer] = [open(), newId(), manual<number>()];
    await log.start(id, producer.produce, { owner: "ada" });
    for (const stranger of [{ owner: "eve" }, { owner: "" }, {}]) {
      const refused = { statusCode: 403 };
      await expect(log.read(id, stranger)[Symbol.asyncIterator]().next()).rejects.toMatchObject(refused);
      await expect(log.stop(id, stranger)).rejects.toMatchObject(refused);
      await expect(log.status(id, stranger)).rejects.toMatchObject(refused);
    }
    expect(await log.status(id, { owner: "ada" })).toBe("running");
    producer.send(7);
    producer.send(null);
    expect(await collect(log.read(id, { owner: "ada" }))).toEqual([{ id: "1", data: 7 }]);
  });

  it("does not know a stream that was never started", async () => {
    const log = open();
    expect([await log.status("nowhere"), await log.stop("nowhere")]).toEqual(["unknown", false]);
    await expect(collect(log.read("nowhere"))).rejects.toMatchObject({ statusCode: 404 });
  });

  it("rejects to begin where events have been removed with 410", async () => {
    const [log, id] = [open({ maxEvents: 3 }), newId()];
    await log.start(id, async function* () {
      for (let number = 1; number <= 5; number++) yield number;
    });
    await ended(log, id);
    expect((await collect(log.read(id, { after: 2 }))).map(({ data }) => data)).toEqual([3, 4, 5]);
    for (const after of [undefined, 0, "1"]) {
      const options = after === undefined ? {} : { after };
      await expect(collect(log.read(id, options))).rejects.toMatchObject({ statusCode: 410 });
    }
  });

  it.each([["x"], ["-1"], ["1.5"], ["99"], ["9".repeat(30)]])(
    "rejects the event id %s, which the stream does not have, with 400",
    async (after) => {
      const [log, id] = [open(), newId()];
      await log.start(id, async function* () {
        yield 1;
      });
      await expect(collect(log.read(id, { after }))).rejects.toMatchObject({ statusCode: 400 });
    },
  );

  it("releases a waiting reader when its loop ends", async () => {
    const [log, id, producer] = [open(), newId(), manual<number>()];
    await log.start(id, producer.produce);
    producer.send(1);
    const reader = log.read(id)[Symbol.asyncIterator]();
    await reader.next();
    const waiting = reader.next();
    await reader.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
    producer.send(null);
  });

  describe("in a route of server-sent events", () => {
    const routes = (log: StreamLog) => {
      const app = new App({ lifespan: log.lifespan, logger: quiet });
      app.get("/{id}", { stream: "sse", params: { id: t.String() } }, async ({ id }) => log.read(id));
      app.get("/{id}/mine", { stream: "sse", params: { id: t.String() } }, async ({ id }) =>
        log.read(id, { owner: "ada", after: 1 }),
      );
      return app;
    };
    const get = async (client: TestClient, path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`${client.url}/${path}`, { headers });
      return [response.status, await response.text()];
    };

    it("sends ids, continues after Last-Event-ID, and responds with 204 after the last event", async () => {
      const log = open();
      await using client = await TestClient.open(routes(log));
      await log.start("a", async function* () {
        yield "one";
        yield event({ event: "second", data: { two: 2 } });
      });
      const second = 'event: second\nid: 2\ndata: {"two":2}\n\n';
      expect(await get(client, "a")).toEqual([200, `id: 1\ndata: one\n\n${second}`]);
      expect(await get(client, "a", { "last-event-id": "1" })).toEqual([200, second]);
      expect(await get(client, "a", { "last-event-id": "2" })).toEqual([204, ""]);
      // `after` takes precedence over the header.
      expect(await get(client, "a/mine")).toEqual([200, second]);
      expect(await get(client, "a/mine", { "last-event-id": "2" })).toEqual([200, second]);
    });

    it("rejects before the head: 404, 403, 400", async () => {
      const log = open();
      await using client = await TestClient.open(routes(log));
      const producer = manual<number>();
      await log.start("b", producer.produce, { owner: "ada" });
      expect(await get(client, "nowhere")).toEqual([404, '{"detail":"No such stream"}']);
      expect(await get(client, "b")).toEqual([403, '{"detail":"Forbidden"}']);
      await log.start("c", async function* () {
        yield 1;
      });
      expect((await get(client, "c", { "last-event-id": "x" }))[0]).toBe(400);
      producer.send(null);
    });

    it("ends a stream that fails with the event error", async () => {
      const log = open();
      await using client = await TestClient.open(routes(log));
      await log.start("d", async function* () {
        yield 1;
        throw new Error("secret");
      });
      const failure = 'event: error\ndata: {"detail":"The producer has failed"}\n\n';
      expect(await get(client, "d")).toEqual([200, `id: 1\ndata: 1\n\n${failure}`]);
      expect(await get(client, "d", { "last-event-id": "1" })).toEqual([200, failure]);
    });
  });
}

const describeWithRedis = HAS_REDIS ? describe : describe.skip;

describeWithRedis("a stream log in Redis", () => {
  it("continues after an outage without data loss, without a gap or a double", async () => {
    await using server = await startRedis();
    const [here, there] = [new StreamLog({ redis: server.path }), new StreamLog({ redis: server.path })];
    const producer = manual<number>();
    await here.start("a", producer.produce);
    for (let number = 1; number <= 5; number++) producer.send(number);
    await take(there.read("a"), 5);
    const reader = there.read("a")[Symbol.asyncIterator]();
    await reader.next();
    server.freeze();
    for (let number = 6; number <= 10; number++) producer.send(number);
    await expect(here.status("a")).rejects.toMatchObject({ statusCode: 503 });
    server.thaw();
    producer.send(null);
    const received = await collect({ [Symbol.asyncIterator]: () => reader });
    expect(received.map(({ data }) => data)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10]);
    await Promise.all([here.close(), there.close()]);
  });

  it("fails readers whose events were lost with the server", async () => {
    await using server = await startRedis();
    const [here, there] = [new StreamLog({ redis: server.path, logger: quiet }), new StreamLog({ redis: server.path })];
    const producer = manual<number>();
    await here.start("a", producer.produce);
    producer.send(1);
    const reader = there.read("a")[Symbol.asyncIterator]();
    await reader.next();
    const failing = reader.next().catch((error: unknown) => error);
    await server.stop();
    await server.start();
    expect(await failing).toBeInstanceOf(StreamFailedError);
    await producer.cleanedUp;
    await Promise.all([here.close(), there.close()]);
  });

  it("does not run a producer that was being registered when the log closed, and its stream fails", async () => {
    await using server = await startRedis();
    const [log, other] = [new StreamLog({ redis: server.path }), new StreamLog({ redis: server.path })];
    expect([await log.status("a"), await other.status("a")]).toEqual(["unknown", "unknown"]);
    let hasRun = false;
    server.freeze();
    const starting = log.start("a", async function* () {
      hasRun = true;
      yield 1;
    });
    await nextTurn(); // the command has been sent
    const closing = log.close();
    server.thaw();
    await expect(starting).rejects.toMatchObject({ statusCode: 503 });
    await closing;
    expect([hasRun, await other.status("a")]).toEqual([false, "failed"]);
    await expect(log.start("b", async function* () {})).rejects.toMatchObject({ statusCode: 503 });
    await other.close();
  });

  it("accepts a client of ioredis, and leaves it open", async () => {
    await using server = await startRedis();
    const client = new Redis(server.path, { lazyConnect: true });
    const log = new StreamLog({ redis: client });
    await log.start("a", async function* () {
      yield 1;
    });
    expect(await collect(log.read("a"))).toEqual([{ id: "1", data: 1 }]);
    await log.close();
    expect(await client.ping()).toBe("PONG");
    client.disconnect();
  });

  it("sends the text of a script once, and again after Redis has lost it", async () => {
    await using server = await startRedis();
    const log = new StreamLog({ redis: server.path });
    const client = new Redis(server.path);
    await log.start("a", async function* () {
      for (let number = 1; number <= 20; number++) {
        if (number === 11) await client.script("FLUSH");
        yield number;
      }
    });
    expect((await collect(log.read("a"))).map(({ data }) => data)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    const calls = /cmdstat_eval:calls=(\d+)/.exec(await client.info("commandstats"))?.[1];
    expect(Number(calls)).toBeLessThan(10);
    client.disconnect();
    await log.close();
  });

  it("keeps the keys of a stream on one machine of a cluster, for any id", async () => {
    await using server = await startRedis();
    const log = new StreamLog({ redis: server.path });
    const client = new Redis(server.path);
    for (const id of ["}", "a}b", "{}", "%7D"]) {
      await log.start(id, async function* () {
        yield id;
      });
      expect(await collect(log.read(id))).toEqual([{ id: "1", data: id }]);
    }
    const keys = await client.keys("tsgi:stream:*");
    const tags = keys.map((key) => /^[^{]*\{([^}]+)\}/.exec(key)?.[1]);
    expect(new Set(tags)).toEqual(new Set(["%7D", "a%7Db", "{%7D", "%257D"]));
    client.disconnect();
    await log.close();
  });

  it("forgets a stream keepSeconds after it has ended", async () => {
    await using server = await startRedis();
    const log = new StreamLog({ redis: server.path, keepSeconds: 7 });
    await log.start("a", async function* () {
      yield 1;
    });
    await collect(log.read("a"));
    const client = new Redis(server.path);
    for (const part of ["state", "events"]) {
      const leftMs = await client.pttl(`tsgi:stream:{a}:${part}`);
      expect([leftMs > 5_000, leftMs <= 7_000]).toEqual([true, true]);
    }
    expect(await client.keys("*lease*")).toEqual([]);
    client.disconnect();
    await log.close();
  });
});

const INVALID: readonly (readonly [options: object])[] = [
  [{}],
  [{ memory: false }],
  [{ memory: true, keepSecond: 1 }],
  [{ memory: true, maxEvents: 0 }],
  [{ memory: true, maxBytes: 0 }],
  [{ redis: "redis://127.0.0.1:1", maxBytes: 5 }],
  [{ redis: 5 }],
];

describe("a stream log", () => {
  it("does not keep the items of a producer that runs for a long time", async () => {
    const log = new StreamLog({ memory: true });
    const first = new Deferred<WeakRef<object>>();
    const checked = new Deferred<void>();
    await log.start("a", async function* () {
      let item: object | null = { text: "first" };
      first.resolve(new WeakRef(item));
      yield item;
      item = null;
      yield "second";
      await checked.promise;
    });
    const reference = await first.promise;
    await take(log.read("a"), 2);
    await collectGarbage();
    expect(reference.deref()).toBeUndefined();
    checked.resolve();
    await ended(log, "a");
    await log.close();
  });

  it("has at most maxBytes in memory: the streams that ended first are removed", async () => {
    const log = new StreamLog({ memory: true, maxBytes: 1_000 });
    for (const id of ["a", "b", "c"]) {
      await log.start(id, async function* () {
        yield id.repeat(400);
      });
      await ended(log, id);
    }
    expect([await log.status("a"), await log.status("b"), await log.status("c")]).toEqual(["unknown", "done", "done"]);
    expect((await collect(log.read("c"))).map(({ data }) => data)).toEqual(["c".repeat(400)]);
    await log.close();
  });

  it("removes the oldest events of one stream above maxBytes", async () => {
    const log = new StreamLog({ memory: true, maxBytes: 1_000 });
    await log.start("a", async function* () {
      for (let number = 0; number < 10; number++) yield String(number).repeat(200);
    });
    await ended(log, "a");
    const kept = (await collect(log.read("a", { after: 6 }))).map(({ data }) => String(data)[0]);
    expect(kept).toEqual(["6", "7", "8", "9"]);
    await expect(collect(log.read("a"))).rejects.toMatchObject({ statusCode: 410 });
    await log.close();
  });

  it("rejects a stream with 503 if streams that run have all the room, and keeps their events", async () => {
    const log = new StreamLog({ memory: true, maxBytes: 500 });
    const checked = new Deferred<void>();
    await log.start("a", async function* () {
      yield "a".repeat(420);
      await checked.promise;
    });
    await take(log.read("a"), 1);
    const full = { name: "UnavailableError", statusCode: 503 };
    await expect(log.start("b".repeat(100), async function* () {})).rejects.toMatchObject(full);
    checked.resolve();
    await ended(log, "a");
    await log.start("b".repeat(100), async function* () {});
    expect(await log.status("a")).toBe("unknown");
    await log.close();
  });

  it.each(INVALID)("is not made of %j", (options) => {
    expect(() => new StreamLog(options)).toThrow(expect.objectContaining({ name: "ConfigurationError" }));
  });
});
