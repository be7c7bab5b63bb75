import { demand } from "./lib/outcome.js";
import { Shop } from "./lib/jobs.js";
import { eventually } from "./lib/wire.js";

export const fault = "jobs: kill -9 of the worker that runs a job with attempts: 1";
export const pass = "another worker runs it within 60 s";

export async function run() {
  const shop = await Shop.open();
  try {
    const first = await shop.start("worker", { env: { HANG: "1" } });
    const api = await shop.start("api");
    const { status } = await fetch(`${api.url}/hang`, { method: "POST" });
    demand(status === 200, `the job was not enqueued: ${status}`);
    await first.said(/^hanging$/m);
    const second = await shop.start("worker");
    const killedAt = performance.now();
    first.kill("SIGKILL");
    const isDone = await eventually(() => shop.count("runs").then((runs) => runs === 1), 60_000);
    const seconds = Math.round((performance.now() - killedAt) / 1_000);
    demand(isDone, `not within ${seconds} s: ${second.stderr}`);
    return `ran again after ${seconds} s`;
  } finally {
    await shop.close();
  }
}
