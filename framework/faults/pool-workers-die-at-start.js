import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { demand } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { eventually, sleep } from "./lib/wire.js";

export const fault = "pool workers that die at every start";
export const pass =
  "back-off; 503 with Retry-After after five in ten seconds; the process stays up, and uses the first that lives";

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "tsgi-dying-"));
  const deadly = join(folder, "deadly");
  writeFileSync(deadly, "");
  const server = await Server.start({ deadly, dies: "pool" }, { file: "dying-app.js" });
  const ask = async (path) => {
    const answer = await fetch(`${server.url}${path}`);
    await answer.body.cancel();
    return { status: answer.status, retryAfter: Number(answer.headers.get("retry-after")) };
  };
  const starts = () => server.stdout.split("died\n").length - 1;
  try {
    const first = await ask("/plain");
    const untilFirst = starts();
    await sleep(5000);
    const [again, other] = await Promise.all([ask("/plain"), ask("/fast")]);
    const inAll = starts();
    rmSync(deadly);
    const mendedAt = performance.now();
    const isBack = await eventually(async () => (await ask("/plain")).status === 200, 12_000);
    const backMs = performance.now() - mendedAt;
    const figure = `${first.status} after ${untilFirst} starts, ${inAll} in all 5 s later, others ${other.status}, back in ${(backMs / 1000).toFixed(1)} s`;
    const isRefused = [first, again].every(({ status, retryAfter }) => status === 503 && retryAfter > 0);
    demand(isRefused && untilFirst === 5 && inAll <= 10 && other.status === 200 && isBack, figure);
    return figure;
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}
