/**
 * The cost of an API key per request, in memory without a server: microseconds of a request without a key, with a dependency that
 * compares the SHA-256 of the key by hand, with `ApiKeys` and each store, and with a session. The cases take turns in each round;
 * the results are the medians of the times.
 *
 *     npm run build && node framework/bench/api-keys.mjs [postgresql://…]
 *
 * With a URL it creates a schema and drops it.
 */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { App, Depends, HTTPException, Request, withParams } from "tsgi";
import { memoryStore, sessionOf, sessions } from "tsgi/middleware";
import { HTTPBearer } from "tsgi/security";
import { ApiKeys, memoryKeys, prismaKeys } from "@tsgi/api-keys";
import { openPrisma } from "@tsgi/prisma";

const ROUNDS = 15;
const REQUESTS = 1_000;
const SAMPLE = new URL("../../sample-auth-app/", import.meta.url);

const server = process.argv[2];
const folder = mkdtempSync(path.join(tmpdir(), "tsgi-bench-"));
const schema = `tsgi_bench_${process.pid}`;
const open = (url) =>
  openPrisma({
    url,
    sqlite: () => import(new URL("dist/generated/sqlite/client.js", SAMPLE)),
    postgresql: () => import(new URL("dist/generated/postgresql/client.js", SAMPLE)),
  });
const sqlite = await open(`file:${folder}/bench.db`);
const postgresql = server === undefined ? null : await open(`${server}?schema=${schema}`);
const stores = {
  memoryKeys: memoryKeys(),
  "prismaKeys, SQLite": prismaKeys(sqlite),
  ...(postgresql && { "prismaKeys, PostgreSQL": prismaKeys(postgresql) }),
};

const app = new App();
const cases = new Map();
const hashes = new Map([[createHash("sha256").update("secret").digest("hex"), "ada"]]);
const byHand = withParams({ bearer: Depends(new HTTPBearer()) }, async ({ bearer: { credentials } }) => {
  const owner = hashes.get(createHash("sha256").update(credentials).digest("hex"));
  if (owner === undefined) throw new HTTPException(401);
  return { owner };
});
app.get("/none", async () => 1);
cases.set("without a key", { path: "/none", key: "secret" });
app.get("/hand", { params: { key: Depends(byHand) } }, async () => 1);
cases.set("by hand, in a Map", { path: "/hand", key: "secret" });
for (const [index, [name, store]] of Object.entries(stores).entries()) {
  const keys = new ApiKeys({ store });
  app.get(`/${index}`, { params: { key: Depends(keys.scheme) } }, async () => 1);
  cases.set(name, { path: `/${index}`, key: (await keys.create({ owner: "ada" })).key });
}

const getUser = withParams({ request: Request }, async ({ request }) => {
  const { user } = sessionOf(request);
  if (user === undefined) throw new HTTPException(401);
  return user;
});
const middleware = [sessions({ store: memoryStore(), secure: false })];
const logIn = async ({ request }) => ((sessionOf(request).user = "ada"), 1);
app.post("/login", { params: { request: Request }, middleware }, logIn);
app.get("/session", { params: { user: Depends(getUser) }, middleware }, async () => 1);
const login = await app.fetch(new globalThis.Request("http://localhost/login", { method: "POST" }));
const [cookie] = login.headers.get("set-cookie").split(";");
cases.set("session, memoryStore", { path: "/session", cookie });

async function call({ path: target, key, cookie: session }) {
  let status = 0;
  const [name, value] = session === undefined ? ["authorization", `Bearer ${key}`] : ["cookie", session];
  const headers = [[Buffer.from(name), Buffer.from(value)]];
  await app(
    { type: "http", method: "GET", path: target, headers },
    async () => ({ type: "http.request", body: new Uint8Array(0), more_body: false }),
    (message) => {
      if (message.type === "http.response.start") ({ status } = message);
    },
  );
  if (status !== 200) throw new Error(`${target}: ${status}`);
}

/** Microseconds per request: elapsed, and of the processor. */
async function measure(one) {
  const cpu = process.cpuUsage();
  const start = performance.now();
  for (let index = 0; index < REQUESTS; index++) await call(one);
  const { user, system } = process.cpuUsage(cpu);
  return [((performance.now() - start) * 1_000) / REQUESTS, (user + system) / REQUESTS];
}

const median = (times) => times.toSorted((left, right) => left - right)[times.length >> 1];
const results = new Map([...cases.keys()].map((name) => [name, []]));
for (const one of cases.values()) await measure(one);
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, one] of cases) results.get(name).push(await measure(one));
}
const table = [...results].map(([name, times]) => {
  const [elapsed, processor] = [0, 1].map((index) => Number(median(times.map((time) => time[index])).toFixed(1)));
  return [name, { "µs elapsed": elapsed, "µs of processor": processor }];
});
console.table(Object.fromEntries(table));

await sqlite.$disconnect();
if (postgresql !== null) {
  await postgresql.$executeRawUnsafe(`DROP SCHEMA "${schema}" CASCADE`);
  await postgresql.$disconnect();
}
rmSync(folder, { recursive: true, force: true });
