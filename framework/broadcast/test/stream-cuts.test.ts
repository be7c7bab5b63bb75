/** Readers that are cut at random, over HTTP, while connections to Redis are cut too. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { describe, expect, it } from "@jest/globals";
import { Redis } from "ioredis";
import { App, t } from "tsgi";
import { TestClient } from "tsgi/testing";
import { IS_SLOW } from "../../test/support/on-demand.js";
import { HAS_REDIS, startRedis } from "../../test/support/redis-server.js";
import { type Produce, StreamFailedError, StreamLog, UnavailableError } from "../src/index.js";

const describeWithRedis = HAS_REDIS ? describe : describe.skip;
const NO_REDIS = HAS_REDIS ? "" : " (redis-server is not installed)";
const describeSlowly = HAS_REDIS && IS_SLOW ? describe : describe.skip;

/** Cuts of all readers together. */
const CUTS = IS_SLOW ? 10_000 : 500;
const READERS = 20;

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

function createApp(log: StreamLog): App {
  const app = new App({ logger: quiet, lifespan: log.lifespan });
  app.get("/{id}", { stream: "sse", params: { id: t.String() } }, async ({ id }) => log.read(id));
  return app;
}

/** Starts a stream: under another id if Redis has replied too late, because it may have made the first one. */
async function start(log: StreamLog, produce: Produce<number>): Promise<string> {
  for (let number = 1; ; number++) {
    try {
      await log.start(`a${number}`, produce);
      return `a${number}`;
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
    }
  }
}

interface Cut {
  /** The numbers that have arrived whole. */
  readonly numbers: readonly number[];
  readonly hasEnded: boolean;
}

/** Reads some bytes of a stream, and disconnects. */
async function readSome(url: string, after: number, bytes: number): Promise<Cut> {
  const headers: Record<string, string> = after === 0 ? {} : { "last-event-id": String(after) };
  const [response] = (await once(get(url, { headers, agent: false }), "response")) as [IncomingMessage];
  if (response.statusCode !== 200) response.resume();
  if (response.statusCode === 204) return { numbers: [], hasEnded: true };
  if (response.statusCode === 503) return { numbers: [], hasEnded: false }; // a connection to Redis has just been cut
  expect(response.statusCode).toBe(200);
  let text = "";
  let hasEnded = true;
  for await (const chunk of response) {
    text += String(chunk);
    hasEnded = text.length < bytes;
    if (!hasEnded) break; // closes the connection
  }
  const whole = text
    .slice(0, hasEnded ? undefined : bytes)
    .split("\n\n")
    .slice(0, -1);
  expect(whole.filter((event) => event.includes("event: error"))).toEqual([]);
  return {
    numbers: whole.flatMap((event) => /^id: (\d+)\ndata: \1$/.exec(event)?.slice(1).map(Number) ?? []),
    hasEnded,
  };
}

describeWithRedis(`streams whose readers are interrupted at random${NO_REDIS}`, () => {
  it(`give exactly the missed events in order, on any server, in ${CUTS} cuts`, async () => {
    await using redis = await startRedis();
    const admin = new Redis(redis.path);
    const logs = [new StreamLog({ redis: redis.path }), new StreamLog({ redis: redis.path })];
    const servers = await Promise.all(logs.map((log) => TestClient.open(createApp(log))));
    const total = Math.ceil(CUTS / READERS) * 4;
    let cuts = 0;
    let wake = () => {};
    // The producer keeps just ahead of the readers, so that each cut meets stored and live events.
    const isAhead = (number: number) => cuts * 4 < (number - 40) * READERS;
    const produce = async function* () {
      for (let number = 1; number <= total; number++) {
        yield number;
        while (isAhead(number)) await new Promise<void>((resolve) => (wake = resolve));
      }
    };
    const id = await start(logs[0] as StreamLog, produce);
    const read = async (reader: number): Promise<number[]> => {
      const received: number[] = [];
      for (let turn = reader; received.length < total; turn++) {
        const server = servers[turn % 2];
        const cut = await readSome(`${server?.url}/${id}`, received.length, 10 + Math.floor(Math.random() * 120));
        received.push(...cut.numbers);
        cuts++;
        wake();
        if (cuts % 100 === 0)
          await admin.call("CLIENT", "KILL", "TYPE", cuts % 200 === 0 ? "pubsub" : "normal", "SKIPME", "yes");
      }
      return received;
    };
    const all = await Promise.all(Array.from({ length: READERS }, (_, reader) => read(reader)));
    const expected = Array.from({ length: total }, (_, index) => index + 1);
    for (const received of all) expect(received).toEqual(expected);
    expect(cuts).toBeGreaterThan(CUTS / 2);
    admin.disconnect();
    await Promise.all(servers.map((server) => server.close()));
  }, 600_000);
});

describeSlowly("the readers of a producer whose process is killed", () => {
  it("fail within 15 seconds", async () => {
    await using redis = await startRedis();
    const child = fork(new URL("./_producer.ts", import.meta.url), [redis.path], { execArgv: ["--import", "tsx"] });
    await once(child, "message");
    const log = new StreamLog({ redis: redis.path });
    const reader = log.read("a")[Symbol.asyncIterator]();
    expect((await reader.next()).value).toEqual({ id: "1", data: 1 });
    child.kill("SIGKILL");
    const killedAt = performance.now();
    await expect(reader.next()).rejects.toBeInstanceOf(StreamFailedError);
    expect(performance.now() - killedAt).toBeLessThan(15_000);
    expect(await log.status("a")).toBe("failed");
    await log.close();
  });
});
