/** A server that is killed while a request with a key runs: the contract of `idempotency()` over Redis. */
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { Redis } from "ioredis";
import { type Answer, call } from "../../test/support/call.js";
import { IS_SLOW } from "../../test/support/on-demand.js";
import {
  bundleProgram,
  measurePayment,
  momentsOf,
  pay,
  type Payment,
  startVictim,
  type Victim,
} from "../../test/support/payments.js";
import { HAS_REDIS, type RedisServer, startRedis } from "../../test/support/redis-server.js";
import { createApp } from "./fixtures/payments.js";

const TRIES = IS_SLOW ? 200 : 3;
const FIXTURE = path.join(import.meta.dirname, "fixtures/payments.ts");
const MINUTES_MS = 1_200_000;

let server: RedisServer;
let client: Redis;
let program: Awaited<ReturnType<typeof bundleProgram>>;
beforeAll(async () => {
  if (!HAS_REDIS) return;
  program = await bundleProgram(FIXTURE);
  server = await startRedis();
  client = new Redis(server.path);
  await client.ping(); // until it is connected
});
afterAll(async () => {
  client?.disconnect();
  await program?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

const start = () => startVictim(program.file, { TEST_REDIS_PATH: server.path });

/** Ends a server, and waits until Redis has run its last commands. */
async function kill(victim: Victim): Promise<void> {
  victim.process.kill("SIGKILL");
  await victim.exited;
  while (String(await client.client("LIST")).includes(`name=victim-${victim.process.pid} `));
}

/** Sends the request again, to a process that lives. */
function repeat(payment: Payment): Promise<Answer> {
  const headers = [["idempotency-key", payment.name] as const, ["authorization", "Bearer ada"] as const];
  return call(createApp(client), "POST", "/payments", { headers, json: payment });
}

const runsOf = ({ name }: Payment) => client.llen(`paid:${name}`);

/** Lets the leases of dead processes end, which takes a minute in production. Stored responses live for an hour. */
async function endLeases(): Promise<void> {
  for (const key of await client.keys("tsgi:idempotency:*")) {
    if ((await client.pttl(key)) > 60_000) continue;
    await client.pexpire(key, 1);
    while ((await client.exists(key)) === 1);
  }
}

const describeWithRedis = HAS_REDIS ? describe : describe.skip;

describeWithRedis("a server that is killed while a request with a key runs", () => {
  it("between the write and the response: a repeat gets 409 during the lease, and runs after it", async () => {
    const payment = { name: "held", holds: true };
    const victim = await start();
    const first = pay(victim.url, payment);
    while ((await runsOf(payment)) === 0);
    await kill(victim);
    expect(await first).toBeNull();
    expect(await repeat(payment)).toMatchObject({ status: 409, headers: { "retry-after": "1" } });
    expect(await runsOf(payment)).toBe(1);
    await endLeases();
    await client.rpush(`never:${payment.name}`, "go on");
    const second = await repeat(payment);
    expect([second.status, await runsOf(payment)]).toEqual([201, 2]);
    const third = await repeat(payment);
    expect([third.text, third.headers["idempotency-replayed"]]).toEqual([second.text, "true"]);
  });

  it(
    `at a random moment: no second run during the lease, and one stored response, in ${TRIES} tries`,
    async () => {
      const outcomes = { unclaimed: 0, running: 0, stored: 0 };
      let next = start();
      for (const [index, moment] of momentsOf(TRIES).entries()) {
        const victim = await next;
        next = index + 1 < TRIES ? start() : next;
        const usualMs = await measurePayment(victim.url, index);
        const payment = { name: `key ${index}` };
        const first = pay(victim.url, payment);
        await new Promise((resolve) => setTimeout(resolve, moment * usualMs));
        await kill(victim);
        const response = await first;
        const ran = await runsOf(payment);
        const early = await Promise.all([repeat(payment), repeat(payment), repeat(payment)]);
        for (const { status } of early) expect([201, 409]).toContain(status);
        expect(await runsOf(payment)).toBeLessThanOrEqual(1);
        await endLeases();
        const late = [await repeat(payment), await repeat(payment)];
        const sent = [...early, ...late].filter(({ status }) => status === 201).map(({ text }) => text);
        expect(new Set(response === null ? sent : [...sent, response]).size).toBe(1);
        expect(late.map(({ status }) => status)).toEqual([201, 201]);
        const hasStored = early.every((answer) => answer.headers["idempotency-replayed"] === "true");
        const hasRun = early.some(({ status }) => status === 201);
        outcomes[hasStored ? "stored" : hasRun ? "unclaimed" : "running"]++;
        // Only a write without a stored response runs twice, after its lease.
        expect(await runsOf(payment)).toBe(ran === 1 && !hasStored ? 2 : 1);
      }
      if (IS_SLOW) console.log(outcomes);
      expect(outcomes.unclaimed + outcomes.running + outcomes.stored).toBe(TRIES);
    },
    MINUTES_MS,
  );
});
