import { demand } from "./lib/outcome.js";
import { Shop } from "./lib/jobs.js";
import { eventually, sleep } from "./lib/wire.js";

export const fault = "jobs: kill -9 of the API and of workers, and a restart of PostgreSQL, during 1,000 requests";
export const pass = "500 rows and 500 jobs, each done at least once";
export const limitMs = 240_000;

const REQUESTS = 1_000;
const CLIENTS = 8;
/** Responses after which a process is killed, and after which the database is stopped. */
const KILL_EVERY = 120;
const RESTART_AT = 500;

export async function run() {
  const shop = await Shop.open();
  try {
    const apis = [await shop.start("api"), await shop.start("api")];
    const workers = [await shop.start("worker"), await shop.start("worker")];
    const replace = async (servers, role) => {
      const index = Math.floor(Math.random() * servers.length);
      servers[index].kill("SIGKILL");
      await servers[index].exited;
      // While the database is stopped, a process cannot start.
      for (;;) {
        try {
          servers[index] = await shop.start(role);
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
    const isDone = () => shop.count("(SELECT DISTINCT n FROM runs) AS done").then((done) => done === REQUESTS / 2);
    await eventually(() => isDone().catch(() => false), 120_000);
    const rows = await shop.count("orders");
    const jobs = await shop.count("pgboss.job WHERE name = 'order'");
    const done = await shop.count("(SELECT DISTINCT n FROM runs) AS done");
    const runs = await shop.count("runs");
    const figure = `${rows} rows, ${jobs} jobs, ${done} done in ${runs} runs; ${kills} processes killed`;
    demand(rows === REQUESTS / 2 && jobs === REQUESTS / 2 && done === REQUESTS / 2, figure);
    return figure;
  } finally {
    await shop.close();
  }
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
