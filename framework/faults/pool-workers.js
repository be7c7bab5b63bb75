import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { demand } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { eventually } from "./lib/wire.js";

export const fault = "kill -9 of a pool worker in a request; process.exit; out of memory; an endless loop";
export const pass =
  "that request 500 (504 at the limit) within 1 s, other requests succeed, the pool recovers in 2 s, no call runs twice";

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "tsgi-pool-"));
  const log = join(folder, "log");
  writeFileSync(log, "");
  const env = { NODE_OPTIONS: "--max-old-space-size=128" };
  const server = await Server.start({ log }, { file: "plain-app.js", env });
  const ask = async (path) => {
    const startedAt = performance.now();
    const answer = await fetch(`${server.url}${path}`);
    return { status: answer.status, body: await answer.json(), ms: performance.now() - startedAt };
  };
  const isWhole = () =>
    eventually(async () => {
      const answers = await Promise.all([ask("/pid"), ask("/pid"), ask("/pid"), ask("/pid")]);
      return new Set(answers.map(({ body }) => body.pid)).size === 2 && answers.every(({ status }) => status === 200);
    }, 2000);
  try {
    demand(await isWhole(), "the pool never had two workers");
    const figures = [];
    const held = [ask("/hold"), ask("/hold")];
    const runs = () => readFileSync(log, "utf8").trim().split("\n").filter(Boolean);
    await eventually(() => runs().length === 2, 2000);
    process.kill(Number(runs()[0]), "SIGKILL");
    const killedAt = performance.now();
    const first = await Promise.race(held);
    const toldMs = performance.now() - killedAt;
    const statuses = (await Promise.all(held)).map(({ status }) => status).toSorted((left, right) => left - right);
    const isBack = await isWhole();
    figures.push(`kill: ${statuses.join("+")} after ${Math.round(toldMs)} ms`);
    demand(first.status === 500 && toldMs < 1000 && statuses.join() === "200,500" && isBack, figures.join(", "));
    demand(runs().length === 2, `the task ran ${runs().length} times`);
    for (const [path, status, limitMs] of [
      ["/exit", 500, 1000],
      ["/memory", 500, 20_000], // filling the memory takes its time
      ["/loop", 504, 4000],
    ]) {
      const [broken, other] = await Promise.all([ask(path), ask("/fast")]);
      figures.push(`${path.slice(1)}: ${broken.status} after ${Math.round(broken.ms)} ms`);
      const isGood = broken.status === status && broken.ms < limitMs && other.status === 200 && (await isWhole());
      demand(isGood, `${figures.join(", ")}; ${server.stderr.slice(-500)}`);
    }
    return figures.join(", ");
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}
