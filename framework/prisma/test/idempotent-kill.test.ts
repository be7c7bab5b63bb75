/** A server that is killed between a write and its response: the repetition finds one write, and gets the same response. */
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { call } from "../../test/support/call.js";
import { IS_SLOW } from "../../test/support/on-demand.js";
import { bundleProgram, measurePayment, momentsOf, pay, startVictim } from "../../test/support/payments.js";
import { type Cluster, startCluster, WITHOUT_CLUSTER } from "../../test/support/postgres-cluster.js";
import { createFile, createSchema, openClient } from "./_clients.js";
import { createApp } from "./fixtures/payments.js";

const TRIES = IS_SLOW ? 200 : 3;
const FIXTURE = path.join(import.meta.dirname, "fixtures/payments.ts");
const describeWithCluster = WITHOUT_CLUSTER === null ? describe : describe.skip;
const MINUTES_MS = 1_200_000;

let cluster: Cluster;
beforeAll(async () => {
  if (WITHOUT_CLUSTER === null) cluster = await startCluster();
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
});

interface Raw {
  $queryRawUnsafe(sql: string, name: string): Promise<readonly { readonly count: bigint }[]>;
}

/** Shows if the client had the response, and the database the row, when the server was dead. */
interface Outcome {
  readonly hasResponse: boolean;
  readonly hasRow: boolean;
}

describe.each([
  ["SQLite", describe],
  [`PostgreSQL${WITHOUT_CLUSTER === null ? "" : ` (${WITHOUT_CLUSTER})`}`, describeWithCluster],
])("a server on %s that is killed at a random moment of a request", (name, describeHere) => {
  describeHere("", () => {
    it(
      `has one row and one response after the repetition, in ${TRIES} tries`,
      async () => {
        await using file = name === "SQLite" ? await createFile() : null;
        const url = file?.url ?? createSchema(cluster.url);
        const db = await openClient(url);
        const app = createApp(async () => db);
        const repeat = async (key: string) => {
          const headers = [["idempotency-key", key] as const, ["authorization", "Bearer ada"] as const];
          for (;;) {
            const answer = await call(app, "POST", "/payments", { headers, json: { name: key } });
            if (answer.status !== 409) return answer; // PostgreSQL may not know yet that the other one is dead
          }
        };
        const outcomes: Outcome[] = [];
        await using program = await bundleProgram(FIXTURE);
        const start = () => startVictim(program.file, { TEST_DATABASE_URL: url });
        let next = start();
        for (const [index, moment] of momentsOf(TRIES).entries()) {
          const victim = await next;
          next = index + 1 < TRIES ? start() : next;
          const usualMs = await measurePayment(victim.url, index);
          const key = `key ${index}`;
          const first = pay(victim.url, { name: key });
          await new Promise((resolve) => setTimeout(resolve, moment * usualMs));
          victim.process.kill("SIGKILL");
          await victim.exited;
          const [response, hasRow] = [await first, (await countOf(db, key)) > 0];
          const second = await repeat(key);
          const third = await repeat(key);
          expect({ key, status: second.status, rows: await countOf(db, key) }).toEqual({ key, status: 201, rows: 1 });
          expect([third.text, third.headers["idempotency-replayed"]]).toEqual([second.text, "true"]);
          if (response !== null) expect(second.text).toBe(response);
          outcomes.push({ hasResponse: response !== null, hasRow });
        }
        await db.$disconnect();
        const count = (hasRow: boolean, hasResponse: boolean) =>
          outcomes.filter((one) => one.hasRow === hasRow && one.hasResponse === hasResponse).length;
        const counts = { none: count(false, false), onlyRow: count(true, false), both: count(true, true) };
        if (IS_SLOW) console.log(name, counts);
        expect(counts.none + counts.onlyRow + counts.both).toBe(TRIES);
      },
      MINUTES_MS,
    );
  });
});

async function countOf(db: object, name: string): Promise<number> {
  const sql = `SELECT count(*) AS "count" FROM "User" u JOIN "Pen" p ON p."ownerId" = u."id" WHERE u."name" = $1`;
  const [row] = await (db as Raw).$queryRawUnsafe(sql, name);
  return Number(row?.count);
}
