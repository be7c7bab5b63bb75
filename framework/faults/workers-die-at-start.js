import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { demand } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { eventually, sleep } from "./lib/wire.js";

export const fault =
  "an application that dies at every start, with workers: from the beginning, and after a kill -9 of one";
export const pass =
  "at the start: exit ≠ 0; later: back-off, the other workers respond to every request, and the worker restarts when possible";

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "tsgi-dying-"));
  const deadly = join(folder, "deadly");
  writeFileSync(deadly, "");
  const start = (options) => Server.start({ deadly, dies: "server", workers: 2, ...options }, { file: "dying-app.js" });
  const stillborn = await start().catch((error) => error.server);
  const { status } = await stillborn.exited;
  const starts = ({ stdout }) => stdout.split("died\n").length - 1;
  const figures = [`exit ${status} after ${starts(stillborn)} start`];
  demand(status !== 0 && starts(stillborn) === 1, figures[0]);

  rmSync(deadly);
  const server = await start();
  const ask = async () => {
    const answer = await fetch(`${server.url}/fast`, { headers: { connection: "close" } });
    return { status: answer.status, ...(await answer.json()) };
  };
  try {
    const pids = new Set();
    await eventually(async () => pids.add((await ask()).pid).size === 2, 5000);
    writeFileSync(deadly, "");
    const [victim, other] = pids;
    process.kill(victim, "SIGKILL");
    await server.said(/A worker ended/, "stderr");
    const answers = [];
    for (const until = performance.now() + 6000; performance.now() < until; await sleep(20)) answers.push(await ask());
    const tries = starts(server);
    rmSync(deadly);
    const mendedAt = performance.now();
    const isBack = await eventually(async () => ![victim, other].includes((await ask()).pid), 12_000);
    const backMs = performance.now() - mendedAt;
    const lost = answers.filter((answer) => answer.status !== 200 || answer.pid !== other).length;
    figures.push(
      `${tries} starts in 6 s, ${answers.length} answered, ${lost} lost, back in ${(backMs / 1000).toFixed(1)} s`,
    );
    demand(tries >= 3 && tries <= 12 && lost === 0 && isBack, figures.join("; "));
    return figures.join("; ");
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}
