/**
 * Loads a running application for some seconds, says how it bore it, and stops: GET /items on kept-alive connections, and
 * on demand logins beside them. Ends with status 1 when an answer was not one that a client may expect.
 *
 *     node scripts/load.js https://localhost:8443 --seconds 10 --connections 20 --logins 0
 *
 * `--logins N` offers N logins a second, of which the application may refuse what is too much with 429 or 503.
 */
import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";

const LIMITS = { seconds: 60, connections: 200, logins: 500 };
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "10" },
    connections: { type: "string", default: "20" },
    logins: { type: "string", default: "0" },
  },
});
const url = positionals[0] ?? "http://127.0.0.1:8000";
const [seconds, connections, logins] = Object.entries(LIMITS).map(([name, most]) =>
  Math.min(Number(values[name]), most),
);

const user = { username: `load-${randomUUID()}`, email: "load@example.com", password: randomUUID() };
const counts = new Map();
const latencies = [];

/** @returns the answer to a request; its status is counted under the name */
async function send(name, path, options) {
  const response = await fetch(new URL(path, url), options);
  const text = await response.text();
  const key = `${name} ${response.status}`;
  counts.set(key, (counts.get(key) ?? 0) + 1);
  return { status: response.status, text };
}

const login = () => send("login", "/auth/token", { method: "POST", body: new URLSearchParams(user) });

async function readItems(authorization, until) {
  while (performance.now() < until) {
    const start = performance.now();
    await send("items", "/items", { headers: { authorization } });
    latencies.push(performance.now() - start);
  }
}

/** Offers logins at a fixed rate, whatever becomes of those before. */
async function offerLogins(rate, until) {
  const sent = [];
  const start = performance.now();
  while (performance.now() < until) {
    const due = Math.floor(((performance.now() - start) / 1000) * rate);
    while (sent.length < due) sent.push(login());
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await Promise.all(sent);
}

const json = { "Content-Type": "application/json" };
await send("register", "/users", { method: "POST", headers: json, body: JSON.stringify(user) });
const { access_token: token } = JSON.parse((await login()).text);
const authorization = `Bearer ${token}`;
for (const name of ["Notebook", "Fountain pen", "Desk lamp"]) {
  const headers = { ...json, authorization };
  await send("add", "/items", { method: "POST", headers, body: JSON.stringify({ name }) });
}
await readItems(authorization, performance.now() + 1_000); // what is compiled on first use shall not be measured
latencies.length = 0;

const until = performance.now() + seconds * 1000;
await Promise.all([
  ...Array.from({ length: connections }, () => readItems(authorization, until)),
  offerLogins(logins, until),
]);

latencies.sort((one, other) => one - other);
const percentile = (share) => latencies[Math.floor(latencies.length * share)]?.toFixed(1);
console.log(`${url}: ${connections} connections, ${logins} logins/s offered, ${seconds} s`);
console.log(
  `GET /items: ${Math.round(latencies.length / seconds)} requests/s, p50 ${percentile(0.5)} ms, p99 ${percentile(0.99)} ms`,
);
console.log([...counts].map(([key, count]) => `${key}: ${count}`).join(", "));
const expected = /^(?:register 201|add 201|items 200|login (?:200|429|503))$/;
process.exitCode = [...counts.keys()].every((key) => expected.test(key)) ? 0 : 1;
