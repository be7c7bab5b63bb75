/**
 * Loads a running application for some seconds, prints the results, and exits: GET /items on kept-alive connections,
 * and optional logins at the same time. Exits with status 1 if a response was unexpected.
 *
 *     node scripts/load.js https://localhost:8443 --seconds 10 --connections 20 --logins 0
 *
 * `--logins N` sends N logins per second, of which the application may reject the excess with 429 or 503.
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

/** @returns the response to a request; its status is counted under the name */
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

/** Sends logins at a fixed rate, without waiting for earlier ones. */
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
await readItems(authorization, performance.now() + 1_000); // code that is compiled on first use must not be measured
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
