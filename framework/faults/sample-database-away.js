import { Client } from "pg";
import { demand } from "./lib/outcome.js";
import { Shop, startPostgreSQL } from "./lib/sample.js";
import { eventually } from "./lib/wire.js";

export const fault = "the sample application: PostgreSQL stopped, hung, out of connections, and back";
export const pass =
  "503 within 5 s without its text, for twenty at once; first success within 5 s of its return; no restart";

const PATIENCE_MS = 5000;

export async function run() {
  const cluster = await startPostgreSQL({ max_connections: 12, superuser_reserved_connections: 0 });
  const shop = await Shop.open({ DATABASE_URL: cluster.url, DATABASE_POOL_SIZE: "4" });
  const { pid } = shop.server;
  let taken = [];
  try {
    const figures = [];
    for (const { name, breakIt, mendIt } of [
      { name: "stopped", breakIt: () => cluster.stop(), mendIt: () => cluster.start() },
      { name: "hung", breakIt: () => cluster.freeze(), mendIt: () => cluster.thaw() },
      {
        name: "out of connections",
        breakIt: async () => (taken = await takeAllConnections(cluster.url)),
        mendIt: () => Promise.all(taken.splice(0).map((client) => client.end())),
      },
    ]) {
      await breakIt();
      const asked = Array.from({ length: 20 }, (_, index) =>
        index % 4 === 0 ? shop.login() : index % 4 === 1 ? shop.ask("/ready") : shop.items(),
      );
      const answers = await Promise.all(asked);
      await mendIt();
      const mendedAt = performance.now();
      const isBack = await eventually(async () => (await shop.items()).status === 200, PATIENCE_MS);
      const backMs = performance.now() - mendedAt;
      const slowestMs = Math.max(...answers.map(({ ms }) => ms));
      const statuses = [...new Set(answers.map(({ status }) => status))];
      figures.push(`${name}: ${statuses.join("+")} within ${inSeconds(slowestMs)}, back in ${inSeconds(backMs)}`);
      const isPlain = answers.every(
        ({ text, retryAfter }) => (text === UNAVAILABLE && retryAfter === "1") || text === NOT_READY,
      );
      const isGood = statuses.join() === "503" && slowestMs < PATIENCE_MS && isBack && isPlain;
      demand(
        isGood && shop.server.pid === pid,
        `${figures.join("; ")}; ${answers.find(({ text }) => text !== UNAVAILABLE && text !== NOT_READY)?.text}`,
      );
    }
    return figures.join("; ");
  } finally {
    await Promise.all(taken.map((client) => client.end()));
    await shop.close();
    await cluster[Symbol.asyncDispose]();
  }
}

/** The response of `/ready`. */
const NOT_READY = JSON.stringify({ status: "unavailable", checks: { openDatabase: "failed" } });
const UNAVAILABLE = JSON.stringify({ detail: "Service Unavailable" });
const inSeconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

/** Uses every connection of the server, including the application's, which are closed. */
async function takeAllConnections(url) {
  const taken = [];
  const take = async () => {
    const client = new Client(url);
    client.on("error", () => {});
    await client.connect();
    taken.push(client);
  };
  await take();
  await taken[0].query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tsgi'");
  for (;;) {
    try {
      await take();
    } catch {
      return taken;
    }
  }
}
