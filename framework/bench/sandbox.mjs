/**
 * The cost of a test in a sandbox: microseconds of a test that runs an empty transaction, and is rolled back. It is compared
 * with an empty transaction of the same database without a sandbox. Both take turns in each round; the results are the medians
 * of the times and of the ratios of each round.
 *
 *     npm run build && node framework/bench/sandbox.mjs [postgresql://…]     # without a URL: SQLite
 *
 * With a URL it creates databases and drops them.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Depends } from "tsgi";
import { openPrisma } from "@tsgi/prisma";
import { closeSandboxes, openSandbox } from "@tsgi/prisma/testing";

const ROUNDS = 31;
const TESTS = 200;
const SAMPLE = new URL("../../sample-auth-app/", import.meta.url);

const server = process.argv[2];
const folder = mkdtempSync(path.join(tmpdir(), "tsgi-bench-"));
const schema = `tsgi_bench_${process.pid}`;
const open = async () =>
  openPrisma({
    url: server === undefined ? `file:${folder}/bench.db` : `${server}?schema=${schema}`,
    sqlite: () => import(new URL("dist/generated/sqlite/client.js", SAMPLE)),
    postgresql: () => import(new URL("dist/generated/postgresql/client.js", SAMPLE)),
    migrations: new URL("prisma/migrations/", SAMPLE),
  });
const db = await open();

const openedAt = performance.now();
const sandbox = await openSandbox(Depends(open, { scope: "app" }));
const openedMs = performance.now() - openedAt;

const CASES = {
  "empty transaction": () => db.$transaction(async () => {}),
  "test in a sandbox": async () => {
    await sandbox.db.$transaction(async () => {});
    await sandbox.rollback();
  },
};

async function measure(run) {
  const start = performance.now();
  for (let index = 0; index < TESTS; index++) await run();
  return ((performance.now() - start) / TESTS) * 1000;
}

const medianOf = (values) => values.toSorted((left, right) => left - right)[values.length >> 1];

const entries = Object.entries(CASES);
for (const [, run] of entries) await measure(run); // warm
const times = new Map(entries.map(([name]) => [name, []]));
for (let round = 0; round < ROUNDS; round++) {
  const turn = round % 2 === 0 ? entries : entries.toReversed();
  for (const [name, run] of turn) times.get(name).push(await measure(run));
}
const base = times.get("empty transaction");
for (const [name, values] of times) {
  const ratio = medianOf(values.map((value, round) => value / base[round]));
  console.log(
    `${name.padEnd(18)} ${medianOf(values).toFixed(0).padStart(6)} µs  ${ratio.toFixed(2)} × empty transaction`,
  );
}
console.log(`${"openSandbox".padEnd(18)} ${openedMs.toFixed(0).padStart(6)} ms`);
if (server !== undefined) {
  const template = new URL(server).pathname.slice(1);
  await db.$executeRawUnsafe(`DROP SCHEMA "${schema}" CASCADE`);
  await closeSandboxes();
  await db.$executeRawUnsafe(`DROP DATABASE "${template}_template"`);
} else await closeSandboxes();
await db.$disconnect();
rmSync(folder, { recursive: true });
