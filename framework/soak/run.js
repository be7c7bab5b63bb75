/**
 * Sends mixed traffic to one process, and shows that its memory stays flat.
 *   make soak             an hour
 *   make soak ARGS=10     10 minutes
 *
 * Memory is measured twice a minute after a garbage collection. The median of the last quarter may exceed the median of the
 * second quarter by at most 5 %; the first quarter is for warming up. Ends with status 1 if it does, or at the first wrong response.
 */
import { Skipped } from "../faults/lib/outcome.js";
import { findNode } from "../faults/lib/jobs.js";
import { startPostgreSQL } from "../faults/lib/sample.js";
import { Server } from "../faults/lib/server.js";
import { sleep } from "../faults/lib/wire.js";
import { sendTraffic } from "./traffic.js";

const MEASUREMENTS_PER_QUARTER = 30;
const MAX_GROWTH = 1.05;

const minutes = Number(process.argv[2] ?? 60);
if (!(minutes > 0)) throw new RangeError(`Expected a number of minutes, not ${process.argv[2]}.`);

/** A Node and a PostgreSQL for jobs, or null with the reason on stderr. */
async function openDatabase() {
  try {
    return { command: findNode(), cluster: await startPostgreSQL({}) };
  } catch (error) {
    if (!(error instanceof Skipped)) throw error;
    process.stderr.write(`Without jobs: ${error.message}\n`);
    return null;
  }
}

function median(values) {
  const sorted = values.toSorted((one, other) => one - other);
  return ((sorted[Math.floor((sorted.length - 1) / 2)] ?? 0) + (sorted[Math.ceil((sorted.length - 1) / 2)] ?? 0)) / 2;
}

const mebibytes = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

/** Bytes that are alive and that the process occupies, after a garbage collection. */
async function measure(server) {
  server.stdout = "";
  server.kill("SIGUSR2");
  const [, occupied, alive] = await server.said(/^memory (\d+) (\d+)$/m);
  return { alive: Number(alive), occupied: Number(occupied) };
}

/** Measures a number of times, evenly spread over the time. Between calls: the memory of an upload that runs is alive. */
async function observe(server, { calls, ended, pause, resume }) {
  const pauseMs = (minutes * 60_000) / MEASUREMENTS_PER_QUARTER / 4;
  const figures = [];
  while (figures.length < 4 * MEASUREMENTS_PER_QUARTER) {
    await Promise.race([sleep(pauseMs), ended]);
    await Promise.race([pause(), ended]);
    const figure = await measure(server);
    resume();
    figures.push(figure);
    const share = `${figures.length}/${4 * MEASUREMENTS_PER_QUARTER}`;
    const counts = Object.entries(calls).map(([kind, count]) => `${kind} ${count}`);
    process.stderr.write(
      `${share}  ${mebibytes(figure.alive)} alive, ${mebibytes(figure.occupied)} occupied; ${counts.join(", ")}\n`,
    );
  }
  return figures;
}

/** A line for one of the two figures, and whether it is flat. */
function judge(name, figures) {
  const quarter = (index) =>
    figures.slice(index * MEASUREMENTS_PER_QUARTER, (index + 1) * MEASUREMENTS_PER_QUARTER).map((one) => one[name]);
  const [before, after] = [median(quarter(1)), median(quarter(3))];
  const isFlat = after <= MAX_GROWTH * before;
  const change = ((after / before - 1) * 100).toFixed(1);
  console.log(`${isFlat ? "pass" : "FAIL"}  ${name}: ${mebibytes(before)}, then ${mebibytes(after)} (${change} %)`);
  return isFlat;
}

const database = await openDatabase();
const server = await Server.start(
  { databaseUrl: database?.cluster.url ?? null },
  {
    file: "../../soak/server.js",
    args: ["--expose-gc"],
    env: { NODE_ENV: "production" },
    command: database?.command ?? process.execPath,
  },
);
const stopping = new AbortController();
try {
  const traffic = sendTraffic(server.url, { hasJobs: database !== null, signal: stopping.signal });
  const { calls, ended } = traffic;
  const figures = await observe(server, traffic);
  stopping.abort();
  await ended;
  for (const [kind, count] of Object.entries(calls)) console.log(`${kind}: ${count} calls`);
  process.exitCode = ["alive", "occupied"].map((name) => judge(name, figures)).every(Boolean) ? 0 : 1;
} finally {
  stopping.abort();
  await server.stop();
  await database?.cluster[Symbol.asyncDispose]();
}
