/**
 * Logs in to the sample application and lists items, many times, and prints the report.
 *
 * `node dist/http/sample-client.js URL LOGINS LISTINGS`
 *
 * @module
 */
import autocannon from "autocannon";
import { printReport, type Row } from "../report.js";

/** As many as hashes run at once: more would wait in line, and be refused in the end. */
const CONNECTIONS = 4;

const FORM = { "content-type": "application/x-www-form-urlencoded" };
const DEMO = "username=demo&password=demo-password";

const [url = "", logins = "50", listings = "5000"] = process.argv.slice(2);
const rows: Row[] = [];
const faults: string[] = [];

const token = await logIn();
await measure("POST /auth/token (argon2id)", Number(logins), "/auth/token", {
  method: "POST",
  body: DEMO,
  headers: FORM,
});
await measure("GET /items", Number(listings), "/items", { headers: { authorization: `Bearer ${token}` } });
printReport({ rows, faults });

async function logIn(): Promise<string> {
  const response = await fetch(`${url}/auth/token`, { method: "POST", body: DEMO, headers: FORM });
  if (!response.ok) throw new Error(`The login answered ${response.status} ${await response.text()}`);
  return ((await response.json()) as { access_token: string }).access_token;
}

async function measure(
  name: string,
  amount: number,
  path: string,
  options: Partial<autocannon.Options>,
): Promise<void> {
  const started = performance.now();
  const result = await autocannon({ ...options, url: url + path, connections: CONNECTIONS, amount, sampleInt: 10 });
  const seconds = (performance.now() - started) / 1_000;
  const good = result.statusCodeStats?.["200"]?.count ?? 0;
  if (good < amount) faults.push(`${name}: ${amount - good} of ${amount} answers were no 200`);
  else rows.push({ name, figures: { perSecond: amount / seconds, p99Ms: result.latency.p99 } });
}
