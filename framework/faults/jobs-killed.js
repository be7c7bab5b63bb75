import { demand } from "./lib/outcome.js";
import { orderUnderFaults, REQUESTS, Shop } from "./lib/jobs.js";
import { eventually } from "./lib/wire.js";

export const fault = "jobs: kill -9 of the API and of workers, and a restart of PostgreSQL, during 1,000 requests";
export const pass = "500 rows and 500 jobs, each done at least once";
export const limitMs = 240_000;

export async function run() {
  const shop = await Shop.open();
  try {
    const kills = await orderUnderFaults(shop);
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
