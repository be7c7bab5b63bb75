import { once } from "node:events";
import { describe, expect, it } from "@jest/globals";
import { Redis } from "ioredis";
import { openRedisStore, redisStore } from "../src/index.js";
import { HAS_REDIS, startRedis } from "../../test/support/redis-server.js";

/** A logger that keeps its entries. */
function keptLog() {
  const entries: { level: string; message: string; err?: unknown }[] = [];
  const keep = (level: string) => (fields: object, message: string) => void entries.push({ level, message, ...fields });
  return { entries, logger: { debug: keep("debug"), info: keep("info"), warn: keep("warn"), error: keep("error") } };
}

/** Milliseconds to wait for Redis on a machine that is busy with other tests. */
const PATIENTLY = { timeoutMs: 10_000 };

const describeWithRedis = HAS_REDIS ? describe : describe.skip;

describe("openRedisStore", () => {
  it.each([
    [
      "redis://127.0.0.1:1",
      "Redis, host 127.0.0.1, port 1: connect ECONNREFUSED 127.0.0.1:1. " +
        "The port is closed: start the server with redis-server --port 1, or correct the URL",
    ],
    [
      "redis://nowhere.invalid",
      expect.stringMatching(/^Redis, host nowhere\.invalid, port 6379: getaddrinfo .* getent hosts nowhere\.invalid$/),
    ],
    [
      "/nowhere/it's.sock",
      expect.stringMatching(
        /^Redis, host \/nowhere\/it's\.sock, port 6379: connect ENOENT .* --unixsocket '\/nowhere\/it'\\''s.sock'/,
      ),
    ],
  ])("counts in this process if there is no %s, and logs the fix once", async (url, message) => {
    const log = keptLog();
    const store = await openRedisStore(url, { logger: log.logger });
    expect((await store.increment("a", 60)).count).toBe(1);
    expect((await store.increment("a", 60)).count).toBe(2);
    await store.set("b", "text", 60);
    expect(await store.get("b")).toBe("text");
    expect(await store.add("b", "other", 60)).toBe(false);
    expect(await store.replace("b", "new", 60)).toBe(true);
    expect(await store.swap("b", "new", { value: "newer", ttlSeconds: 60 })).toBe(true);
    await store.delete("b");
    expect(await store.get("b")).toBeNull();
    store.close();
    expect(log.entries).toMatchObject([
      {
        level: "warn",
        message: "Redis is unavailable: this process counts by itself.",
        err: { name: "ConnectError", message },
      },
    ]);
  });

  it("rejects each call with whenRedisFails set to reject, and logs it once", async () => {
    const log = keptLog();
    const store = await openRedisStore("redis://127.0.0.1:1", { logger: log.logger, whenRedisFails: "refuse" });
    await expect(store.get("a")).rejects.toThrow("Redis is not connected.");
    await expect(store.add("a", "1", 60)).rejects.toThrow("Redis is not connected.");
    store.close();
    expect(log.entries.map(({ message }) => message)).toEqual(["Redis is unavailable: its store fails."]);
  });

  it("rejects a misspelled option", async () => {
    await expect(openRedisStore("redis://localhost", { timeout: 5 } as object)).rejects.toThrow("timeoutMs");
  });
});

describeWithRedis(`redisStore${HAS_REDIS ? "" : " (redis-server is not installed)"}`, () => {
  it.each([
    ["is connecting", {}],
    ["connects for its first command", { lazyConnect: true }],
  ])("waits for the first connection of a client that %s", async (_, options) => {
    await using server = await startRedis();
    const client = new Redis(server.path, options);
    const store = redisStore(client, PATIENTLY);
    const counts = await Promise.all([store.increment("a", 60), store.increment("a", 60)]);
    expect(counts.map(({ count }) => count)).toEqual([1, 2]);
    client.disconnect();
    await once(client, "end");
    await expect(store.get("a")).rejects.toThrow("Redis is not connected.");
  });

  it("sends the text of a script once, and again after Redis has lost it", async () => {
    await using server = await startRedis();
    const client = new Redis(server.path);
    const store = redisStore(client, PATIENTLY);
    for (let i = 0; i < 5; i++) await store.increment("a", 60);
    await client.script("FLUSH");
    expect((await store.increment("a", 60)).count).toBe(6);
    expect(await store.swap("a", "6", null)).toBe(true);
    const stats = await client.info("commandstats");
    expect(stats).toMatch(/cmdstat_eval:calls=3,/);
    client.disconnect();
  });

  it("does not wait for a client whose first connection has failed", async () => {
    const client = new Redis("redis://127.0.0.1:1", { retryStrategy: () => 600_000 });
    client.on("error", () => {});
    const store = redisStore(client);
    await new Promise((resolve) => client.once("reconnecting", resolve));
    await expect(store.get("a")).rejects.toThrow("Redis is not connected.");
    client.disconnect();
  });
});

describeWithRedis(`openRedisStore${HAS_REDIS ? "" : " (redis-server is not installed)"}`, () => {
  it("is one for all who share it", async () => {
    await using server = await startRedis();
    const open = () => openRedisStore(server.path, { ...PATIENTLY, logger: keptLog().logger });
    const [one, two] = [await open(), await open()];
    await one.increment("a", 60);
    expect((await two.increment("a", 60)).count).toBe(2);
    one.close();
    two.close();
  });

  it("replaces a locked one with the command that unlocks it", async () => {
    await using server = await startRedis();
    const admin = new Redis(server.path);
    await admin.call("CONFIG", "SET", "requirepass", "secret");
    admin.disconnect();
    const log = keptLog();
    const store = await openRedisStore(server.path, { ...PATIENTLY, logger: log.logger });
    expect((await store.increment("a", 60)).count).toBe(1);
    store.close();
    expect(log.entries).toMatchObject([
      { err: { message: expect.stringContaining("Write its password into the URL") } },
    ]);
  });

  it.each([
    ["has crashed", "stop", 10_000],
    ["is frozen", "freeze", 2_000],
  ] as const)("continues in memory while Redis %s, and is shared again afterwards", async (_, fault, timeoutMs) => {
    await using server = await startRedis();
    const log = keptLog();
    const store = await openRedisStore(server.path, { timeoutMs, logger: log.logger });
    await store.set("where", "Redis", 60);
    await server[fault]();
    expect(await store.get("where")).toBeNull();
    await store.set("where", "memory", 60);
    expect(await store.get("where")).toBe("memory");
    await (fault === "stop" ? server.start() : server.thaw());
    while ((await store.get("where")) === "memory") await new Promise((resolve) => setImmediate(resolve));
    expect(await store.get("where")).toBe(fault === "stop" ? null : "Redis");
    expect(log.entries.map(({ message }) => message)).toEqual([
      "Redis is available: counts are shared.",
      "Redis is unavailable: this process counts by itself.",
      "Redis is available: counts are shared.",
    ]);
    store.close();
  });
});
