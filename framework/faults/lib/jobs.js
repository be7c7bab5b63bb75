/** Processes of an application with jobs, on a PostgreSQL that can be broken without harm to others. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { Pool } from "pg";
import { Skipped } from "./outcome.js";
import { startPostgreSQL } from "./sample.js";
import { Server } from "./server.js";

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
