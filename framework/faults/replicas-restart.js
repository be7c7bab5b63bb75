import { demand } from "./lib/outcome.js";
import { findNode } from "./lib/jobs.js";
import { startNginx } from "./lib/nginx.js";
import { LiveSocket, Requests, StreamReader } from "./lib/replicas-clients.js";
import { startPostgreSQL, startRedis } from "./lib/sample.js";
import { Server } from "./lib/server.js";
import { eventually, sleep } from "./lib/wire.js";
import { Pool } from "pg";

const ROUNDS = process.env.TSGI_SLOW ? 3 : 1;
const STREAM_EVENTS = 60;
/** Milliseconds of load before and after each restart. */
const PAUSE_MS = 1_000;

export const fault = `${ROUNDS === 1 ? "a rolling restart" : `${ROUNDS} rolling restarts`} of 3 replicas and 2 workers behind nginx`;
export const pass = "0 requests failed, 0 jobs lost, 0 messages and events missed";
export const limitMs = ROUNDS * 120_000 + 240_000;

const SCHEMA =
  "CREATE TABLE orders (n int PRIMARY KEY);" +
  "CREATE TABLE done (id serial PRIMARY KEY, n int UNIQUE NOT NULL, runs int NOT NULL DEFAULT 1)";

/** The processes of the application, each started again in its place. */
class Deployment {
  servers = [];
  endings = [];

  static async open() {
    const deployment = new Deployment();
    deployment.node = findNode();
    deployment.cluster = await startPostgreSQL({ max_connections: 200 });
    deployment.redis = await startRedis();
    deployment.pool = new Pool({ connectionString: deployment.cluster.url, max: 2 });
    await deployment.pool.query(SCHEMA);
    for (const role of ["replica", "replica", "replica", "worker", "worker"]) {
      deployment.servers.push({ role, server: await deployment.#start({ role }) });
    }
    const replicas = deployment.servers.filter(({ role }) => role === "replica");
    deployment.nginx = await startNginx(replicas.map(({ server }) => server.port));
    return deployment;
  }

  #start(options) {
    const { cluster, redis, node } = this;
    const given = { ...options, url: cluster.url, redis: redis.url, streamEvents: STREAM_EVENTS };
    return Server.start(given, { file: "replicas-program.js", command: node });
  }

  async restart(place) {
    const { role, server } = place;
    server.kill("SIGTERM");
    const { status, signal } = await server.exited;
    this.endings.push(signal ?? status);
    place.server = await this.#start({ role, ...(role === "replica" ? { port: server.port } : {}) });
  }

  async count(query) {
    return (await this.pool.query(`SELECT count(*)::int AS count FROM ${query}`)).rows[0].count;
  }

  async close() {
    await this.nginx?.stop();
    for (const { server } of this.servers) server.kill("SIGKILL");
    await Promise.all(this.servers.map(({ server }) => server.exited));
    await this.pool?.end();
    await this.redis?.[Symbol.asyncDispose]();
    await this.cluster[Symbol.asyncDispose]();
  }
}

export async function run() {
  const deployment = await Deployment.open();
  try {
    const { url } = deployment.nginx;
    const requests = new Requests(url);
    const sockets = Array.from({ length: 6 }, () => new LiveSocket(url));
    const streams = new StreamReader(url, requests, STREAM_EVENTS);
    const load = new AbortController();
    const clients = [
      ...Array.from({ length: 6 }, () => requests.order(load.signal)),
      ...Array.from({ length: 4 }, () => requests.read(load.signal)),
      ...["a", "b", "c", "d"].map((name) => streams.run(name, load.signal)),
    ];
    for (let round = 0; round < ROUNDS; round++) {
      for (const place of deployment.servers) {
        await sleep(PAUSE_MS);
        await deployment.restart(place);
      }
    }
    await sleep(PAUSE_MS);
    load.abort();
    await Promise.all(clients);
    const enqueued = await deployment.count("pgboss.job WHERE name = 'order'");
    await eventually(async () => (await deployment.count("done")) >= enqueued, 120_000);
    const all = await deployment.count("done");
    await eventually(() => sockets.every(({ ids }) => ids.size >= all), 30_000);
    await Promise.all(sockets.map((socket) => socket.stop()));
    return await report(deployment, { requests, sockets, streams, enqueued });
  } finally {
    await deployment.close();
  }
}

const sum = (all, of) => all.reduce((total, one) => total + of(one), 0);

async function report(deployment, { requests, sockets, streams, enqueued }) {
  const orders = await deployment.count("orders");
  const done = await deployment.count("done");
  const runs = (await deployment.pool.query("SELECT sum(runs)::int AS runs FROM done")).rows[0].runs;
  const lost = orders - (await deployment.count("orders JOIN done USING (n)"));
  const { rows } = await deployment.pool.query("SELECT id FROM done");
  const missed = sum(sockets, ({ ids }) => rows.filter(({ id }) => !ids.has(id)).length);
  const repeated = sum(sockets, (socket) => socket.repeated);
  const failedEndings = deployment.endings.filter((ending) => ending !== 0);
  const errors = deployment.nginx.errors();
  const lines = [
    ["Restarts", `${deployment.endings.length}`, `${failedEndings.length} ended with an error`],
    ["Requests", `${requests.sent}`, `${requests.failures.length} failed`],
    ["Jobs", `${enqueued} enqueued for ${orders} orders`, `${done} done in ${runs} runs, ${lost} lost`],
    [
      "Sockets",
      `${sockets.length}, opened ${sum(sockets, ({ opened }) => opened)} times`,
      `${sum(sockets, ({ ids }) => ids.size)} messages, ${sum(sockets, ({ late }) => late)} of them after a reconnect, ` +
        `${missed} missed, ${repeated} repeated`,
    ],
    [
      "Streams",
      `${streams.streams}, opened ${streams.connections} times`,
      `${streams.events} events, ${streams.wrong.length} streams with missed or repeated events`,
    ],
    ["nginx", "", `${errors.length} errors, after which another replica may have had the request`],
  ];
  const widths = [0, 1].map((column) => Math.max(...lines.map((line) => line[column].length)));
  const table = lines.map(([a, b, c]) => `      ${a.padEnd(widths[0])}  ${b.padEnd(widths[1])}  ${c}`).join("\n");
  process.stderr.write(`${table}\n`);
  const problems = [...requests.failures, ...streams.wrong, ...errors].slice(0, 5);
  if (problems.length > 0) process.stderr.write(`${problems.map((one) => `      ${one}`).join("\n")}\n`);
  const counts = [failedEndings.length, requests.failures.length, lost, missed, repeated, streams.wrong.length];
  const figure = `${requests.sent} requests, ${requests.failures.length} failed; ${enqueued} jobs, ${lost} lost; ${missed} messages missed`;
  demand(counts.every((count) => count === 0) && enqueued === orders && requests.sent > 100, figure);
  return figure;
}
