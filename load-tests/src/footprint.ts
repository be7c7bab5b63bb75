/** The start and the memory of a server. @module */
import { readFileSync } from "node:fs";
import { contenderModule } from "./contenders.js";
import { serversOf } from "./http.js";
import { startServer } from "./http/server-process.js";
import type { Progress } from "./progress.js";
import { takeTurns, type Result } from "./rounds.js";
import type { Settings } from "./settings.js";

/** Requests before the memory is read. */
const LOAD = 10_000;

/** Measures the time from the start of the process to its first response, and its memory after some load. */
export function measureFootprint(settings: Settings, progress: Progress): Promise<Result[]> {
  const servers = serversOf(settings);
  return takeTurns(Object.keys(servers), settings.footprintRounds, async (name, round) => {
    progress.step(`start and memory, round ${round + 1} of ${settings.footprintRounds}: ${name}`);
    const started = performance.now();
    const server = await startServer(contenderModule(name, servers));
    try {
      await (await fetch(`${server.url}/health`)).text();
      const startMs = performance.now() - started;
      await load(`${server.url}/health`);
      const figures = { startMs, loadedMiB: residentMiB(server.pid) };
      return { rows: [{ name: "footprint", figures }], faults: [] };
    } finally {
      await server.stop();
    }
  });
}

async function load(url: string): Promise<void> {
  const { default: autocannon } = await import("autocannon");
  await autocannon({ url, connections: 10, amount: LOAD });
}

/** The resident memory of a process; 0 where the system does not tell. */
function residentMiB(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
