import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from "@jest/globals";
import type { Redis } from "ioredis";

import { openRedis } from "../src/redis.js";
import { Throttle, TooManyAttemptsError } from "../src/security/throttle.js";
import { openLog } from "./support.js";
import { startRedis, WITHOUT_REDIS, type RedisServer } from "./support/redis-server.js";

/** Tries until it is refused, or so many times; gives how often it was let in. */
async function guess(throttle: Throttle, address: string, username: string, times: number): Promise<number> {
  for (let count = 0; count < times; count += 1) {
    if ((await secondsToWait(throttle, address, username)) > 0) {
      return count;
    }
  }
  return times;
}

async function secondsToWait(throttle: Throttle, address: string, username: string): Promise<number> {
  try {
    await throttle.admit(address, username);
    return 0;
  } catch (error) {
    return error instanceof TooManyAttemptsError ? error.retryAfterSeconds : Number.NaN;
  }
}

/** How long to wait for Redis on a machine that is busy with other tests. */
const PATIENTLY_MS = 10_000;

const describeWithRedis = WITHOUT_REDIS === null ? describe : describe.skip;
const reason = WITHOUT_REDIS === null ? "" : ` (${WITHOUT_REDIS})`;

let server: RedisServer;
let redis: Redis;
beforeAll(async () => {
  if (WITHOUT_REDIS === null) {
    server = await startRedis();
    redis = await openRedis(server.url, openLog().log, PATIENTLY_MS);
  }
});
afterEach(async () => {
  jest.useRealTimers();
  await redis?.flushall();
});
afterAll(async () => {
  redis?.disconnect();
  await server?.[Symbol.asyncDispose]();
});

describe.each([
  { where: "in memory", run: describe, open: () => new Throttle() },
  { where: `in Redis${reason}`, run: describeWithRedis, open: () => new Throttle(redis) },
])("$where", ({ run, open }) => {
  run("the throttle of logins", () => {
    it("lets twenty wrong guesses at an account through from one address, and says how long to wait", async () => {
      const throttle = open();
      expect(await guess(throttle, "192.0.2.1", "alice", 100)).toBe(20);
      const seconds = await secondsToWait(throttle, "192.0.2.1", "alice");
      expect(seconds).toBeGreaterThan(290);
      expect(seconds).toBeLessThanOrEqual(300);
      expect(await guess(throttle, "192.0.2.1", "bob", 1)).toBe(1);
    });

    it("lets twenty of a hundred through that come at once", async () => {
      const throttle = open();
      const waits = await Promise.all(Array.from({ length: 100 }, () => secondsToWait(throttle, "192.0.2.1", "alice")));
      expect(waits.filter((seconds) => seconds === 0)).toHaveLength(20);
    });

    it("lets a hundred wrong guesses through from one address, whatever the names", async () => {
      const throttle = open();
      const admitted = [];
      for (let index = 0; index < 200; index += 1) {
        admitted.push(await guess(throttle, "192.0.2.1", `user-${index}`, 1));
      }
      expect(admitted.filter(Boolean)).toHaveLength(100);
      expect(await secondsToWait(throttle, "192.0.2.1", "bob")).toBeGreaterThan(0);
      expect(await secondsToWait(throttle, "192.0.2.2", "bob")).toBe(0);
    });

    it("does not count those who succeed", async () => {
      const throttle = open();
      for (let count = 0; count < 200; count += 1) {
        await throttle.admit("192.0.2.1", "alice");
        await throttle.forgive("192.0.2.1", "alice");
      }
      expect(await guess(throttle, "192.0.2.1", "alice", 100)).toBe(20);
    });

    it("does not lock an owner out while many others guess, and leaves each of them one guess", async () => {
      const throttle = open();
      for (let host = 1; host <= 5; host += 1) {
        expect(await guess(throttle, `192.0.2.${host}`, "alice", 100)).toBe(20);
      }
      expect(await guess(throttle, "192.0.2.6", "alice", 100)).toBe(1);
      expect(await guess(throttle, "198.51.100.1", "alice", 1)).toBe(1);
      expect(await guess(throttle, "192.0.2.6", "bob", 100)).toBe(20);
    });

    it("lets a hundred registrations through from one address, and counts them by themselves", async () => {
      const throttle = open();
      const register = async (address: string) =>
        throttle.admitRegistration(address).then(
          () => true,
          () => false,
        );
      const admitted = await Promise.all(Array.from({ length: 120 }, () => register("192.0.2.1")));
      expect(admitted.filter(Boolean)).toHaveLength(100);
      expect(await register("192.0.2.2")).toBe(true);
      expect(await secondsToWait(throttle, "192.0.2.1", "alice")).toBe(0);
    });

    it.each([
      ["one network of IPv6", "2001:db8::1", "2001:db8:0:0:ffff::2", true],
      ["two networks of IPv6", "2001:db8::1", "2001:db8:0:1::1", false],
      ["one address of IPv4, once as IPv6", "192.0.2.1", "::ffff:192.0.2.1", true],
    ])("takes who has %s as one or as two", async (_, first, second, isOne) => {
      const throttle = open();
      await guess(throttle, first, "alice", 100);
      expect((await secondsToWait(throttle, second, "alice")) > 0).toBe(isOne);
    });
  });
});

describe("the throttle in memory", () => {
  it("counts anew after five minutes", async () => {
    jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask"] });
    const throttle = new Throttle();
    expect(await guess(throttle, "192.0.2.1", "alice", 100)).toBe(20);
    jest.advanceTimersByTime(301_000);
    expect(await guess(throttle, "192.0.2.1", "alice", 100)).toBe(20);
  });
});

describeWithRedis(`the throttle in Redis${reason}`, () => {
  it("is one for all who share it, and keeps neither names nor keys for ever", async () => {
    const other = await openRedis(server.url, openLog().log, PATIENTLY_MS);
    const replicas = [new Throttle(redis), new Throttle(other)] as const;
    expect(await guess(replicas[0], "192.0.2.1", "alice", 12)).toBe(12);
    expect(await guess(replicas[1], "192.0.2.1", "alice", 100)).toBe(8);
    const keys = await redis.keys("*");
    expect(keys).toHaveLength(3);
    expect(keys.join()).not.toContain("alice");
    expect(await Promise.all(keys.map((key) => redis.ttl(key)))).toEqual(Array(3).fill(expect.any(Number)));
    expect(Math.min(...(await Promise.all(keys.map((key) => redis.ttl(key)))))).toBeGreaterThan(0);
    other.disconnect();
  });

  it.each([
    ["has crashed", "stop", PATIENTLY_MS],
    ["is frozen", "freeze", 500],
  ] as const)("goes on in memory while Redis %s, and is shared again afterwards", async (_, fault, silenceMs) => {
    await using own = await startRedis();
    const { log, lines } = openLog();
    const client = await openRedis(own.url, log, silenceMs);
    const throttle = new Throttle(client);
    expect(await guess(throttle, "192.0.2.1", "alice", 5)).toBe(5);
    await own[fault]();
    expect(await guess(throttle, "192.0.2.1", "alice", 100)).toBe(20);
    // Not `once` of node:events, which rejects with each attempt to connect that fails before.
    const ready = new Promise<void>((resolve) => void client.once("ready", resolve));
    await (fault === "stop" ? own.start() : own.thaw());
    await ready;
    expect(await guess(throttle, "192.0.2.1", "alice", 100)).toBe(fault === "stop" ? 20 : 15);
    expect(lines.map((line) => JSON.parse(line).message)).toEqual([
      "redis is there: login attempts are counted for all replicas",
      "redis is away: login attempts are counted in this process",
      "redis is there: login attempts are counted for all replicas",
    ]);
    client.disconnect();
  });

  it("does not keep the application from starting", async () => {
    const { log, lines } = openLog();
    const client = await openRedis("/nowhere/redis.sock", log);
    expect(await guess(new Throttle(client), "192.0.2.1", "alice", 100)).toBe(20);
    expect(lines.join()).toContain("redis is away");
    client.disconnect();
  });

  it.each([
    [
      "redis://127.0.0.1:1",
      "Redis, host 127.0.0.1, port 1: connect ECONNREFUSED 127.0.0.1:1. " +
        "Nothing listens there: start it with redis-server --port 1, or correct REDIS_URL",
    ],
    [
      "redis://nowhere.invalid",
      expect.stringMatching(/^Redis, host nowhere\.invalid, port 6379: getaddrinfo .* getent hosts nowhere\.invalid$/),
    ],
  ])("says what is wrong with %s, and the command that mends it", async (url, message) => {
    const { log, lines } = openLog();
    const client = await openRedis(url, log);
    client.disconnect();
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: "warn", err: { name: "ConnectError", message } });
  });
});
