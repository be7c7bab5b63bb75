/**
 * Finds a server's saturation, then loads it on a schedule below that, and prints the report.
 *
 * `node dist/latency/client.js LOAD`, where LOAD is a {@link LatencyLoad} as JSON.
 *
 * @module
 */
import { EXAMPLES, type Example, faultOf } from "../examples.js";
import { printReport, type Row } from "../report.js";
import { Connection, readAnswer, toWire } from "./connection.js";
import type { LatencyLoad } from "./load.js";
import { keepSchedule, percentile, saturate } from "./loops.js";

const load = JSON.parse(process.argv[2] ?? "{}") as LatencyLoad;
const rows: Row[] = [];
const faults: string[] = [];

for (const example of EXAMPLES.filter(({ name }) => load.routes.includes(name))) {
  try {
    const found = await measure(example);
    if (typeof found === "string") faults.push(found);
    else rows.push(...found);
  } catch (error) {
    faults.push(`${example.name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
printReport({ rows, faults });

/** Gives what is wrong where something is. */
async function measure(example: Example): Promise<Row[] | string> {
  const request = toWire(load.url, example);
  const expected = await readAnswer(load.url, request);
  const fault = faultOf(example, expected);
  if (fault !== null) return fault;
  const opened = Array.from({ length: load.connections }, () => Connection.open(load.url, request, expected));
  const connections = await Promise.all(opened);
  try {
    return await measureBelowSaturation(example.name, connections);
  } finally {
    connections.forEach((connection) => connection.close());
  }
}

async function measureBelowSaturation(name: string, connections: readonly Connection[]): Promise<Row[]> {
  await saturate(connections, load.warmUpSeconds, load.serverPid);
  const { perSecond: saturationPerSecond, ...loads } = await saturate(connections, load.seconds, load.serverPid);
  const found: Row[] = [];
  for (const share of load.shares) {
    const ratePerSecond = saturationPerSecond * share;
    const count = Math.ceil(Math.max(load.samples, ratePerSecond * load.seconds));
    const { latencies, lateness, reachedPerSecond } = await keepSchedule(connections, ratePerSecond, count);
    const figures = {
      ...loads,
      saturationPerSecond,
      ratePerSecond,
      reachedPerSecond,
      p50Ms: percentile(latencies, 0.5),
      p99Ms: percentile(latencies, 0.99),
      p99_9Ms: percentile(latencies, 0.999),
      maxMs: percentile(latencies, 1),
      lateP99Ms: percentile(lateness, 0.99),
      lateP99_9Ms: percentile(lateness, 0.999),
    };
    found.push({ name: `${name} at ${Math.round(share * 100)} %`, figures });
  }
  return found;
}
