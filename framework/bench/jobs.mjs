/**
 * The cost of a job: jobs per second that are enqueued and run, and the time until an idle worker starts a job, next to bare
 * pg-boss, graphile-worker and BullMQ. The cases take turns in each round, and the median round counts.
 *
 *     node framework/scripts/runtimes.js node22        prints the path of a Node.js that pg-boss works on
 *     npm run build --prefix framework && NODE framework/bench/jobs.mjs
 *
 * Needs PostgreSQL and Redis on their usual ports of this machine (`DATABASE_URL`, `REDIS_URL`). The handlers are empty, and all
 * workers run in this process, ten jobs at a time: so it measures the queues and not the work.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "pg";
import { PgBoss } from "pg-boss";
import { Jobs } from "../jobs/dist/index.js";
import { t } from "../core/dist/index.js";

const URL = process.env.DATABASE_URL ?? "postgresql://postgres@127.0.0.1:5432/postgres";
const REDIS = process.env.REDIS_URL ?? "redis://127.0.0.1:6379";
const ROUNDS = 3;
const COUNT = 1_000;
const SENDERS = 10;
const CONCURRENCY = 10;
const PROBES = 10;
const POLL_SECONDS = 0.5;

/** The peers are large, and only this needs them. */
const PEERS = ["bullmq@6.7.0", "graphile-worker@0.18.0"];
const home = resolve(import.meta.dirname, "../../.cache/jobs-peers");
if (!existsSync(`${home}/node_modules/bullmq`)) {
  execFileSync("npm", ["install", "--prefix", home, "--no-save", "--ignore-scripts", "--no-audit", ...PEERS]);
}
const peer = createRequire(`${home}/package.json`);
const logger = { debug() {}, info() {}, warn() {}, error: console.error };

/** Each case: `open(onJob)` returns the functions that send a job, start and stop a worker, and close everything. */
const CASES = {
  "@tsgi/jobs": async (onJob, schema) => {
    const jobs = new Jobs({ url: URL, schema, logger });
    const job = jobs.define("job", { payload: t.Object({ n: t.Integer() }), concurrency: CONCURRENCY }, async () =>
      onJob(),
    );
    await jobs[Symbol.for("tsgi.jobs")].list();
    let worker;
    return {
      send: (n) => job.enqueue({ n }),
      start: async () => (worker = await jobs.work()),
      stop: () => worker.stop(),
      close: () => jobs.close(),
    };
  },
  "pg-boss": async (onJob, schema) => {
    const boss = new PgBoss({ connectionString: URL, schema });
    boss.on("error", console.error);
    await boss.start();
    await boss.createQueue("job");
    const options = { batchSize: CONCURRENCY, burstWhenBatchFull: true, pollingIntervalSeconds: POLL_SECONDS };
    const send = { heartbeatSeconds: 10, expireInSeconds: 120 };
    return {
      send: (n) => boss.send("job", { n }, send),
      start: () => boss.work("job", options, async (batch) => batch.forEach(onJob)),
      stop: () => boss.offWork("job"),
      close: () => boss.stop({ graceful: false }),
    };
  },
  "graphile-worker": async (onJob, schema) => {
    const { makeWorkerUtils, run, Logger } = peer("graphile-worker");
    const quiet = new Logger(() => () => {});
    const options = { connectionString: URL, schema, logger: quiet };
    const utils = await makeWorkerUtils(options);
    await utils.migrate();
    const start = () =>
      run({ ...options, concurrency: CONCURRENCY, noHandleSignals: true, taskList: { job: async () => onJob() } });
    let runner;
    return {
      send: (n) => utils.addJob("job", { n }),
      start: async () => (runner = await start()),
      stop: () => runner.stop(),
      close: () => utils.release(),
    };
  },
  BullMQ: async (onJob, schema) => {
    const { Queue, Worker } = peer("bullmq");
    const { hostname: host, port } = new globalThis.URL(REDIS);
    const options = { connection: { host, port: Number(port || 6379) }, prefix: schema };
    const queue = new Queue("job", options);
    let worker;
    return {
      send: (n) => queue.add("job", { n }, { removeOnComplete: 1_000 }),
      start: async () => {
        worker = new Worker("job", async () => onJob(), { ...options, concurrency: CONCURRENCY });
        await worker.waitUntilReady();
      },
      stop: () => worker.close(),
      close: async () => {
        await queue.obliterate({ force: true });
        await queue.close();
      },
    };
  },
};

const pool = new Pool({ connectionString: URL });
const results = Object.fromEntries(Object.keys(CASES).map((name) => [name, { enqueue: [], run: [], latency: [] }]));
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, open] of Object.entries(CASES)) {
    const schema = `bench_${process.pid}_${round}_${Object.keys(CASES).indexOf(name)}`;
    const { enqueue, run, latency } = await measure(open, schema);
    results[name].enqueue.push(enqueue);
    results[name].run.push(run);
    results[name].latency.push(...latency);
    await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    process.stderr.write(`round ${round + 1} ${name}: ${Math.round(enqueue)} enqueued/s, ${Math.round(run)} run/s\n`);
  }
}
await pool.end();
print();

async function measure(open, schema) {
  let seen = 0;
  let wake = () => {};
  const queue = await open(() => {
    seen++;
    wake();
  }, schema);
  const reached = (count) =>
    new Promise((done) => {
      wake = () => seen >= count && done();
      wake();
    });
  let startedAt = performance.now();
  let next = 0;
  const sender = async () => {
    while (next < COUNT) await queue.send(next++);
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  const enqueue = COUNT / ((performance.now() - startedAt) / 1_000);
  startedAt = performance.now();
  await queue.start();
  const workingAt = performance.now();
  await reached(COUNT);
  const run = COUNT / ((performance.now() - Math.min(startedAt + 1_000, workingAt)) / 1_000);
  const latency = [];
  for (let probe = 0; probe < PROBES; probe++) {
    await sleep(100 + 37 * probe); // not in step with a poll
    const sentAt = performance.now();
    const before = seen;
    await queue.send(probe);
    await reached(before + 1);
    latency.push(performance.now() - sentAt);
  }
  await queue.stop();
  await queue.close();
  return { enqueue, run, latency };
}

function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

function print() {
  const rows = Object.entries(results).map(([name, { enqueue, run, latency }]) => {
    const cells = [percentile(enqueue, 0.5), percentile(run, 0.5), percentile(latency, 0.5), percentile(latency, 0.95)];
    return `| ${[name, ...cells.map((cell) => Math.round(cell).toLocaleString("en"))].join(" | ")} |`;
  });
  process.stdout.write(
    `| | enqueued/s | run/s | latency p50, ms | p95, ms |\n|---|---:|---:|---:|---:|\n${rows.join("\n")}\n`,
  );
}
