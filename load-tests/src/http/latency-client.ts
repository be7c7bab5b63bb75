/**
 * Loads a server at a fixed rate from this process and prints the report.
 *
 * `node dist/http/latency-client.js URL RATE SECONDS`
 *
 * @module
 */
import autocannon from "autocannon";
import { EXAMPLES } from "../examples.js";
import { printReport, type Row } from "../report.js";

/** So many that none has to wait for the one before, at the rate that is asked for. */
const CONNECTIONS = 20;

const [url = "", rate = "1000", seconds = "3"] = process.argv.slice(2);
const rows: Row[] = [];
const faults: string[] = [];

for (const { name, method, path, body, status } of EXAMPLES) {
  const request = { url: url + path, method, ...(body === null ? {} : { body }) } as const;
  const headers = body === null ? {} : { "content-type": "application/json" };
  // Warm first: what is compiled in the first second belongs to the start, not to the everyday life.
  await autocannon({ ...request, headers, connections: CONNECTIONS, amount: 2_000 });
  // autocannon counts the requests that it could not send in time as late ones: it corrects for coordinated omission
  // wherever a rate is given (https://github.com/mcollina/autocannon, "overallRate").
  const result = await autocannon({
    ...request,
    headers,
    connections: CONNECTIONS,
    overallRate: Number(rate),
    duration: Number(seconds),
  });
  const { latency } = result;
  const good = result.statusCodeStats?.[`${Number(status)}`]?.count ?? 0;
  const total = result.requests.total;
  if (good < total || result.errors + result.timeouts > 0) {
    faults.push(`${name}: ${total - good} of ${total} answers at ${rate} a second were wrong or missing`);
    continue;
  }
  const { p50, p90, p97_5, p99, p99_9, max } = latency;
  const percentiles = { p50Ms: p50, p90Ms: p90, p97_5Ms: p97_5, p99Ms: p99, p99_9Ms: p99_9, maxMs: max };
  rows.push({ name, figures: { ...percentiles, reachedPerSecond: total / Number(seconds) } });
}
printReport({ rows, faults });
