import { afterEach, describe, expect, it, jest } from "@jest/globals";
import { HTTPException } from "tsgi";
import { LoginThrottle } from "@tsgi/passwords";
import { openRedisStore } from "@tsgi/redis";

import { openTestLog } from "./support.js";
import { startRedis, WITHOUT_REDIS } from "./support/redis-server.js";

/** Tries until it is rejected, or the given number of times; returns how often it was accepted. */
async function guess(throttle: LoginThrottle, network: string, username: string, times: number): Promise<number> {
  for (let count = 0; count < times; count += 1) {
    if ((await secondsToWait(throttle.admit(network, username))) > 0) {
      return count;
    }
  }
  return times;
}

async function secondsToWait(admission: Promise<void>): Promise<number> {
  try {
    await admission;
    return 0;
  } catch (error) {
    return error instanceof HTTPException ? Number(error.headers?.["Retry-After"]) : Number.NaN;
  }
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe("the throttle", () => {
  it("allows a hundred wrong guesses from one address, for any names, and does not count successful logins", async () => {
    const throttle = new LoginThrottle();
    for (let count = 0; count < 200; count += 1) {
      await throttle.admit("192.0.2.1", "alice");
      await throttle.forgive("192.0.2.1", "alice");
    }
    let admitted = 0;
    for (let index = 0; index < 200; index += 1) {
      admitted += await guess(throttle, "192.0.2.1", `user-${index}`, 1);
    }
    expect(admitted).toBe(100);
    expect(await guess(throttle, "192.0.2.2", "bob", 1)).toBe(1);
  });

  it("does not lock an owner out while many others guess, and allows each of them one guess", async () => {
    const throttle = new LoginThrottle();
    for (let host = 1; host <= 5; host += 1) {
      expect(await guess(throttle, `192.0.2.${host}`, "alice", 100)).toBe(20);
    }
    expect(await guess(throttle, "192.0.2.6", "alice", 100)).toBe(1);
    expect(await guess(throttle, "198.51.100.1", "alice", 1)).toBe(1);
    expect(await guess(throttle, "192.0.2.6", "bob", 100)).toBe(20);
  });

  it("resets the count after five minutes", async () => {
    const throttle = new LoginThrottle();
    expect(await guess(throttle, "192.0.2.1", "alice", 100)).toBe(20);
    const later = performance.now() + 301_000;
    jest.spyOn(performance, "now").mockReturnValue(later);
    expect(await guess(throttle, "192.0.2.1", "alice", 100)).toBe(20);
  });
});

const ifInstalled = WITHOUT_REDIS === null ? it : it.skip;

describe(`the throttle in Redis${WITHOUT_REDIS === null ? "" : ` (${WITHOUT_REDIS})`}`, () => {
  ifInstalled("is shared by all processes, and continues in memory while Redis is unavailable", async () => {
    await using server = await startRedis();
    const { log, lines } = openTestLog();
    const open = () => openRedisStore(server.url, { logger: log, timeoutMs: 10_000 });
    const [one, two] = [await open(), await open()];
    const replicas = [new LoginThrottle({ store: one }), new LoginThrottle({ store: two })] as const;
    expect(await guess(replicas[0], "192.0.2.1", "alice", 12)).toBe(12);
    expect(await guess(replicas[1], "192.0.2.1", "alice", 100)).toBe(8);
    await server.stop();
    expect(await guess(replicas[1], "192.0.2.1", "alice", 100)).toBe(20);
    expect(lines.at(-1)).toMatch(/Redis, host .* with redis-cli -s .* ping, or .*Redis is unavailable/);
    one.close();
    two.close();
  });
});
