/** Processes of an application with jobs, on a PostgreSQL that can be broken without harm to others. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { Pool } from "pg";
import { Skipped } from "./outcome.js";
import { startPostgreSQL } from "./sample.js";
import { Server } from "./server.js";
import { sleep } from "./wire.js";

/** Node.js 22.12 or later, which pg-boss requires: this one, or one that is fetched. @throws Skipped without it */
export function findNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 12)) return process.execPath;
  const script = path.resolve(import.meta.dirname, "../../scripts/runtimes.js");
  try {
    const line = execFileSync(process.execPath, [script, "node22"], { encoding: "utf8" }).trim();
    const binary = line.slice("node22 ".length);
    if (existsSync(binary)) return binary;
  } catch {
    // Without the registry there is only this Node.js.
  }
  throw new Skipped("pg-boss requires Node.js 22.12");
}

/** A database with the tables of the program, and the means to start its processes. */
export class Shop {
  static async open() {
    const shop = new Shop();
    shop.node = findNode();
    shop.cluster = await startPostgreSQL({ max_connections: 200 });
    shop.pool = new Pool({ connectionString: shop.cluster.url, max: 2 });
    shop.pool.on("error", () => {});
    await shop.pool.query(
      "CREATE TABLE orders (n int PRIMARY KEY); CREATE TABLE runs (n int);" +
        "CREATE TABLE receipts (n int, subscriber text);" +
        "CREATE TABLE ticks (schedule int, at timestamp with time zone NOT NULL DEFAULT now())",
    );
    shop.processes = new Set();
    return shop;
  }

  /** Starts a process. @param role - `api` or `worker`. */
  async start(role, { args = [], env = {}, options = {} } = {}) {
    const server = await Server.start(
      { role, url: this.cluster.url, ...options },
      { file: "jobs-program.js", command: this.node, args, env },
    );
    this.processes.add(server);
    server.exited.then(() => this.processes.delete(server));
    return server;
  }

  async count(query) {
    const { rows } = await this.pool.query(`SELECT count(*)::int AS count FROM ${query}`);
    return rows[0].count;
  }

  async close() {
    for (const server of this.processes) server.kill("SIGKILL");
    await Promise.all([...this.processes].map(({ exited }) => exited));
    await this.pool.end();
    await this.cluster[Symbol.asyncDispose]();
  }
}

export const REQUESTS = 1_000;
const CLIENTS = 8;
/** Responses after which a process is killed, and after which the database is stopped. */
const KILL_EVERY = 120;
const RESTART_AT = 500;

/**
 * Orders from several clients, every second of which is rolled back, while processes are killed and the database is
 * restarted.
 *
 * @returns The number of processes that were killed.
 */
export async function orderUnderFaults(shop, env = {}) {
  const apis = [await shop.start("api", { env }), await shop.start("api", { env })];
  const workers = [await shop.start("worker", { env }), await shop.start("worker", { env })];
  const replace = async (servers, role) => {
    const index = Math.floor(Math.random() * servers.length);
    servers[index].kill("SIGKILL");
    await servers[index].exited;
    // While the database is stopped, a process cannot start.
    for (;;) {
      try {
        servers[index] = await shop.start(role, { env });
        return;
      } catch {
        await sleep(100);
      }
    }
  };
  let responses = 0;
  let kills = 0;
  const faults = [];
  const onResponse = () => {
    responses++;
    if (responses === RESTART_AT) faults.push(shop.cluster.stop().then(() => shop.cluster.start()));
    if (responses % KILL_EVERY !== 0) return;
    kills++;
    faults.push(kills % 2 === 0 ? replace(apis, "api") : replace(workers, "worker"));
  };
  /** A client repeats its request until it has a definite response. */
  const order = async (n) => {
    const fails = n % 2 === 1;
    for (;;) {
      const server = apis[Math.floor(Math.random() * apis.length)];
      const status = await send(server.url, { n, fails });
      if (status === (fails ? 409 : 200)) return onResponse();
      await sleep(50);
    }
  };
  let next = 0;
  const client = async () => {
    while (next < REQUESTS) await order(next++);
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  await Promise.all(faults);
  return kills;
}

/** The status of a response; 0 if the process was killed before it. */
async function send(url, body) {
  try {
    const response = await fetch(`${url}/orders`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(15_000),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}
