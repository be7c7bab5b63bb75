/**
 * The cost of a transaction per request, in memory without a server: microseconds of a request that updates one row.
 * `transactionOf` and `idempotent` are compared with Prisma's own `$transaction` in the handler, and with only the update.
 * The cases take turns in each round; the results are the medians of the times and of the ratios of each round.
 *
 *     npm run build && node framework/bench/transaction.mjs [postgresql://…]     # without a URL: SQLite
 *
 * With a URL it creates a schema and drops it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { App, Depends } from "tsgi";
import { idempotent, openPrisma, transactionOf } from "@tsgi/prisma";

const ROUNDS = 15;
const REQUESTS = 300;
const SAMPLE = new URL("../../sample-auth-app/", import.meta.url);

const server = process.argv[2];
const folder = mkdtempSync(path.join(tmpdir(), "tsgi-bench-"));
const schema = `tsgi_bench_${process.pid}`;
const db = await openPrisma({
  url: server === undefined ? `file:${folder}/bench.db` : `${server}?schema=${schema}`,
  sqlite: () => import(new URL("dist/generated/sqlite/client.js", SAMPLE)),
  postgresql: () => import(new URL("dist/generated/postgresql/client.js", SAMPLE)),
  migrations: new URL("prisma/migrations/", SAMPLE),
});
await db.user.create({ data: { username: "ada", email: "a@b.c", hashed_password: "" } });

const database = Depends(async () => db, { scope: "app" });
const transaction = transactionOf(database);
let version = 0;
const update = (client) => client.user.update({ where: { username: "ada" }, data: { version: ++version } });

const app = new App();
app.post("/alone", { params: { db: database } }, async ({ db: client }) => update(client));
app.post("/prisma", { params: { db: database } }, async ({ db: client }) => client.$transaction((tx) => update(tx)));
app.post("/transactionOf", { params: { tx: Depends(transaction) } }, async ({ tx }) => update(tx));
app.post("/idempotent", { params: { tx: Depends(idempotent(transaction)) } }, async ({ tx }) => update(tx));

const CASES = ["alone", "prisma", "transactionOf", "idempotent"];
let key = 0;

async function request(name) {
  let hasBody = false;
  const headers = name === "idempotent" ? [[Buffer.from("idempotency-key"), Buffer.from(`k${++key}`)]] : [];
  let status = 0;
  await app(
    { type: "http", method: "POST", path: `/${name}`, headers },
    () => {
      if (hasBody) return new Promise(() => {});
      hasBody = true;
      return Promise.resolve({ type: "http.request", body: new Uint8Array(0), more_body: false });
    },
    (message) => {
      if (message.type === "http.response.start") ({ status } = message);
    },
  );
  if (status !== 200) throw new Error(`${name}: ${status}`);
}

async function measure(name) {
  const start = performance.now();
  for (let index = 0; index < REQUESTS; index++) await request(name);
  return ((performance.now() - start) / REQUESTS) * 1000;
}

const medianOf = (values) => values.toSorted((left, right) => left - right)[values.length >> 1];

for (const name of CASES) await measure(name); // warm
const times = new Map(CASES.map((name) => [name, []]));
for (let round = 0; round < ROUNDS; round++) {
  const turn = round % 2 === 0 ? CASES : CASES.toReversed();
  for (const name of turn) times.get(name).push(await measure(name));
}
const base = times.get("prisma");
for (const [name, values] of times) {
  const ratio = medianOf(values.map((value, round) => value / base[round]));
  console.log(`${name.padEnd(14)} ${medianOf(values).toFixed(0).padStart(6)} µs  ${ratio.toFixed(2)} × $transaction`);
}
if (server !== undefined) await db.$executeRawUnsafe(`DROP SCHEMA "${schema}" CASCADE`);
await db.$disconnect();
rmSync(folder, { recursive: true });
