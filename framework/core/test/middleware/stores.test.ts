import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { Redis } from "ioredis";
import { memoryStore, type Store } from "../../src/middleware/index.js";
import { redisStore } from "@tsgi/redis";
import { HAS_REDIS, type RedisServer, startRedis } from "../../../test/support/redis-server.js";

let server: RedisServer;
let client: Redis;
beforeAll(async () => {
  if (!HAS_REDIS) return;
  server = await startRedis();
  client = new Redis(server.path);
});
afterEach(async () => void (await client?.flushall()));
afterAll(async () => {
  client?.disconnect();
  await server?.[Symbol.asyncDispose]();
});

/** The part of node-redis that `redisStore` uses, implemented with the other client. */
const nodeRedis = () => ({
  isOpen: true,
  isReady: true,
  sendCommand: (args: readonly string[]) => client.call(...(args as [string, ...string[]])),
});

const describeWithRedis = HAS_REDIS ? describe : describe.skip;

describe.each<[name: string, run: typeof describeWithRedis, open: () => Required<Store>]>([
  ["memoryStore", describe, () => memoryStore()],
  ["redisStore of ioredis", describeWithRedis, () => redisStore(client)],
  ["redisStore of redis", describeWithRedis, () => redisStore(nodeRedis())],
])("%s", (_, run, open) => {
  run("as a store", () => {
    it("keeps texts until they are deleted", async () => {
      const store = open();
      expect(await store.get("a")).toBeNull();
      await store.set("a", "ä", 60);
      await store.set("b", "", 60);
      expect(await store.get("a")).toBe("ä");
      expect(await store.get("b")).toBe("");
      await store.set("a", "again", 60);
      expect(await store.get("a")).toBe("again");
      await store.delete("a");
      await store.delete("never there");
      expect(await store.get("a")).toBeNull();
    });

    it("counts for all concurrent callers, from the first one to the end of its time", async () => {
      const store = open();
      const counts = await Promise.all(Array.from({ length: 100 }, () => store.increment("a", 60)));
      expect(counts.map(({ count }) => count)).toEqual(Array.from({ length: 100 }, (__, index) => index + 1));
      for (const { expiresInMs } of counts) {
        expect(expiresInMs).toBeGreaterThan(30_000);
        expect(expiresInMs).toBeLessThanOrEqual(60_000);
      }
      expect((await store.increment("a", 5, -2)).count).toBe(98);
      expect((await store.increment("b", 5, 3)).count).toBe(3);
      expect(await store.get("b")).toBe("3");
      await store.delete("a");
      expect((await store.increment("a", 5)).count).toBe(1);
    });

    it("adds a text for one of many concurrent callers", async () => {
      const store = open();
      const added = await Promise.all(Array.from({ length: 100 }, (__, index) => store.add("a", String(index), 60)));
      expect(added.filter((isAdded) => isAdded)).toHaveLength(1);
      expect(await store.get("a")).toBe(String(added.indexOf(true)));
      await store.delete("a");
      expect(await store.add("a", "again", 0.001)).toBe(true);
      while ((await store.get("a")) !== null);
      expect(await store.add("a", "anew", 60)).toBe(true);
    });

    it("replaces an existing text but does not create one", async () => {
      const store = open();
      expect(await store.replace("a", "1", 60)).toBe(false);
      expect(await store.get("a")).toBeNull();
      await store.set("a", "1", 60);
      expect(await store.replace("a", "2", 0.001)).toBe(true);
      while ((await store.get("a")) !== null);
      expect(await store.replace("a", "3", 60)).toBe(false);
    });

    it("swaps or deletes a text only if it is the expected one", async () => {
      const store = open();
      const next = { value: "2", ttlSeconds: 60 };
      expect(await store.swap("a", "1", next)).toBe(false);
      expect(await store.swap("a", "", null)).toBe(false);
      await store.set("a", "1", 60);
      expect(await store.swap("a", "other", next)).toBe(false);
      expect(await store.swap("a", "other", null)).toBe(false);
      expect(await store.get("a")).toBe("1");
      expect(await store.swap("a", "1", next)).toBe(true);
      expect(await store.get("a")).toBe("2");
      expect(await store.swap("a", "2", null)).toBe(true);
      expect(await store.get("a")).toBeNull();
      await store.set("a", "3", 0.001);
      while ((await store.get("a")) !== null);
      expect(await store.swap("a", "3", next)).toBe(false);
    });

    it("deletes a counter only if it has the expected value", async () => {
      const store = open();
      await store.increment("a", 60, 2);
      expect(await store.swap("a", "1", null)).toBe(false);
      expect(await store.swap("a", "2", null)).toBe(true);
      expect(await store.swap("a", "undefined", null)).toBe(false);
      expect((await store.increment("a", 60)).count).toBe(1);
    });

    it("swaps a text for one of many concurrent callers", async () => {
      const store = open();
      await store.set("a", "free", 60);
      const swapped = await Promise.all(
        Array.from({ length: 100 }, (__, index) => store.swap("a", "free", { value: String(index), ttlSeconds: 60 })),
      );
      expect(swapped.filter((isSwapped) => isSwapped)).toHaveLength(1);
      expect(await store.get("a")).toBe(String(swapped.indexOf(true)));
    });

    it("removes expired keys", async () => {
      const store = open();
      await Promise.all([store.set("text", "a", 0.001), store.increment("count", 0.001)]);
      while ((await store.get("text")) !== null || (await store.get("count")) !== null);
      expect((await store.increment("count", 60)).count).toBe(1);
    });
  });
});

describe("memoryStore", () => {
  it("keeps at most the configured number of keys, and removes the oldest", async () => {
    const store = memoryStore({ maxKeys: 3 });
    for (const key of ["a", "b", "c", "d"]) await store.set(key, key, 60);
    expect(await Promise.all(["a", "b", "c", "d"].map((key) => store.get(key)))).toEqual([null, "b", "c", "d"]);
  });

  it("removes expired keys even if they are not read again", async () => {
    const now = jest.spyOn(performance, "now").mockReturnValue(0);
    try {
      const store = memoryStore({ maxKeys: 1_500 });
      await store.set("kept", "a", 60);
      for (let key = 0; key < 1_000; key++) await store.increment(`old ${key}`, 1);
      now.mockReturnValue(2_000);
      for (let key = 0; key < 1_000; key++) await store.increment(`new ${key}`, 60);
      expect(await store.get("kept")).toBe("a");
    } finally {
      now.mockRestore();
    }
  });

  const FULL = expect.objectContaining({ name: "StoreFullError" });

  it("keeps at most the configured number of characters of keys and values, and removes the oldest texts", async () => {
    const store = memoryStore({ maxBytes: 12 });
    for (const key of ["a", "b", "c"]) await store.set(key, "123", 60); // 4 characters each
    expect(await Promise.all(["a", "b", "c"].map((key) => store.get(key)))).toEqual(["123", "123", "123"]);
    await store.set("d", "12345", 60);
    expect(await Promise.all(["a", "b", "c", "d"].map((key) => store.get(key)))).toEqual([null, null, "123", "12345"]);
    await store.set("c", "1", 60); // which has become the newest
    await store.set("e", "12345", 60);
    expect(await Promise.all(["c", "d", "e"].map((key) => store.get(key)))).toEqual(["1", null, "12345"]);
  });

  it("has a bound of 64 MiB by default: of 180 responses of 1 MiB, the newest", async () => {
    const store = memoryStore();
    const text = "x".repeat(1_400_000);
    for (let key = 0; key < 180; key++) await store.set(`response ${key}`, text, 60);
    const kept = [];
    for (let key = 0; key < 180; key++) if ((await store.get(`response ${key}`)) !== null) kept.push(key);
    expect(kept).toEqual(Array.from({ length: 47 }, (_, index) => 133 + index));
  });

  it("does not keep a value above the bound, and leaves all others, the previous value included", async () => {
    const store = memoryStore({ maxBytes: 10 });
    await store.set("a", "1", 60);
    await store.set("b", "1", 60);
    const next = { value: "1234567890", ttlSeconds: 60 };
    await expect(store.set("b", next.value, 60)).rejects.toEqual(FULL);
    await expect(store.replace("b", next.value, 60)).rejects.toEqual(FULL);
    await expect(store.swap("b", "1", next)).rejects.toEqual(FULL);
    await expect(store.add("c", next.value, 60)).rejects.toEqual(FULL);
    expect([await store.get("a"), await store.get("b"), await store.get("c")]).toEqual(["1", "1", null]);
    expect(await store.swap("b", "1", { value: "12345", ttlSeconds: 60 })).toBe(true);
  });

  it.each([
    ["maxKeys", { maxKeys: 3 }],
    ["maxBytes", { maxBytes: 18 }],
  ])("never removes counters and claims for others: with these it is full, by %s", async (_, options) => {
    const store = memoryStore(options);
    await store.increment("c", 60); // 9 characters
    await store.add("k", "123", 60);
    await store.set("t", "12", 60);
    await store.set("u", "12", 60); // removes t
    expect([await store.get("t"), await store.get("u")]).toEqual([null, "12"]);
    await store.add("l", "1234", 60); // removes u
    expect([await store.get("u"), await store.get("c"), await store.get("k")]).toEqual([null, "1", "123"]);
    await expect(store.increment("d", 60)).rejects.toEqual(FULL);
    await expect(store.add("m", "1", 60)).rejects.toEqual(FULL);
    await expect(store.set("v", "1", 60)).rejects.toEqual(FULL);
    expect(await store.increment("c", 60)).toMatchObject({ count: 2 });
    expect(await store.add("k", "other", 60)).toBe(false);
    expect(await store.swap("k", "123", null)).toBe(true);
    await store.set("v", "1", 60);
    expect(await store.get("v")).toBe("1");
  });

  it("takes a claim that is renewed for a claim, and one that is swapped for a text", async () => {
    const store = memoryStore({ maxKeys: 2 });
    await store.add("running", "claim", 60);
    expect(await store.swap("running", "claim", { value: "claim", ttlSeconds: 60 })).toBe(true);
    await store.add("done", "claim", 60);
    expect(await store.swap("done", "claim", { value: "response", ttlSeconds: 60 })).toBe(true);
    await store.set("a", "1", 60);
    await store.set("b", "1", 60);
    expect(await Promise.all(["running", "done", "a", "b"].map((key) => store.get(key)))).toEqual([
      "claim",
      null,
      null,
      "1",
    ]);
  });

  it("has room again once counters and claims have expired, with a search per second", async () => {
    const now = jest.spyOn(performance, "now").mockReturnValue(0);
    try {
      const store = memoryStore({ maxKeys: 2 });
      await store.increment("a", 2);
      await store.add("b", "1", 2);
      await expect(store.increment("c", 60)).rejects.toEqual(FULL);
      now.mockReturnValue(2_500);
      await store.increment("c", 60);
      await store.add("d", "1", 60);
      await expect(store.set("e", "1", 60)).rejects.toEqual(FULL);
    } finally {
      now.mockRestore();
    }
  });

  it("removes expired texts before valid ones", async () => {
    const now = jest.spyOn(performance, "now").mockReturnValue(0);
    try {
      const store = memoryStore({ maxKeys: 2 });
      await store.set("old", "1", 3_600);
      await store.set("short", "1", 1);
      now.mockReturnValue(2_000);
      await store.set("new", "1", 60);
      expect([await store.get("old"), await store.get("new")]).toEqual(["1", "1"]);
    } finally {
      now.mockRestore();
    }
  });

  it("counts a text that is a number, and keeps it as a counter", async () => {
    const store = memoryStore({ maxKeys: 1 });
    await store.set("a", "41", 60);
    expect(await store.increment("a", 60)).toMatchObject({ count: 42 });
    await expect(store.set("b", "1", 60)).rejects.toEqual(FULL);
    expect(await store.get("a")).toBe("42");
  });

  it.each([[{ maxKeys: 0 }], [{ max: 1 }], [{ maxBytes: 0 }], [{ maxBytes: 1.5 }]])("rejects %j", (options) => {
    expect(() => memoryStore(options as never)).toThrow(expect.objectContaining({ name: "ConfigurationError" }));
  });
});

describe("redisStore", () => {
  it("fails immediately while its client is not connected", async () => {
    const lost = { status: "reconnecting", call: () => new Promise(() => {}) };
    await expect(redisStore(lost).get("a")).rejects.toThrow("Redis is not connected.");
    const closed = { isOpen: false, isReady: false, sendCommand: () => new Promise(() => {}) };
    await expect(redisStore(closed).increment("a", 1)).rejects.toThrow("Redis is not connected.");
  });

  it("waits for the first connection of its client, and for no later one", async () => {
    const opening = { isOpen: true, isReady: false, sendCommand: async ([, key]: readonly string[]) => key };
    const store = redisStore(opening, { prefix: "" });
    expect(await store.get("first")).toBe("first");
    opening.isReady = true;
    expect(await store.get("ready")).toBe("ready");
    opening.isReady = false;
    await expect(store.get("lost")).rejects.toThrow("Redis is not connected.");
  });

  it("waits only for one late reply: until it arrives, other calls fail immediately", async () => {
    let answer: (value: string) => void = () => {};
    const sent: string[] = [];
    const slow = {
      isOpen: true,
      isReady: true,
      sendCommand: ([command, key]: readonly string[]) => {
        sent.push(`${command} ${key}`);
        return new Promise((resolve) => (answer = resolve));
      },
    };
    const store = redisStore(slow, { timeoutMs: 5, prefix: "" });
    await expect(store.get("a")).rejects.toThrow("within 5 ms");
    await expect(store.get("b")).rejects.toThrow("Redis has not replied yet.");
    answer("late");
    await new Promise((resolve) => setImmediate(resolve));
    const next = store.get("c");
    answer("in time");
    expect(await next).toBe("in time");
    expect(sent).toEqual(["GET a", "GET c"]);
  });

  it("fails if no reply arrives in time", async () => {
    const silent = { isOpen: true, isReady: true, sendCommand: () => new Promise(() => {}) };
    await expect(redisStore(silent, { timeoutMs: 1 }).get("a")).rejects.toThrow("within 1 ms");
  });

  it("leaves no timer if its client throws, which would end the process", async () => {
    jest.useFakeTimers();
    const broken = {
      isOpen: true,
      isReady: true,
      sendCommand: () => {
        throw new Error("The connection is of a subscriber.");
      },
    };
    await expect(redisStore(broken).get("a")).rejects.toThrow("subscriber");
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it.each([["redis://localhost"], [null], [{}]])("rejects %j", (given) => {
    expect(() => redisStore(given as never)).toThrow(expect.objectContaining({ code: "TSGI_NOT_A_REDIS_CLIENT" }));
  });
});

describeWithRedis("redisStore, in Redis", () => {
  it("prefixes its keys", async () => {
    await redisStore(client, { prefix: "shop:" }).set("a", "1", 60);
    expect(await client.keys("*")).toEqual(["shop:a"]);
  });

  it("sets an expiry on a counter without one, as a crash of another program can leave it", async () => {
    await client.set("tsgi:a", "5");
    expect(await redisStore(client).increment("a", 60)).toEqual({ count: 6, expiresInMs: 60_000 });
    expect(await client.pttl("tsgi:a")).toBeGreaterThan(30_000);
  });
});
