/** The start and the memory of two servers. @module */
import { readFileSync } from "node:fs";
import { CLIENT_CORE } from "./cores.js";
import { startServer } from "./http/server-process.js";
import type { Served } from "./pairs/launches.js";
import type { Contest } from "./pairs/measure.js";
import { SliceProcess } from "./pairs/slice-process.js";
import type { Sides } from "./pairs/slices.js";
import { threadSeconds } from "./processor-time.js";

/** Requests before the memory is read. */
const LOAD = 10_000;

const CLIENT = new URL("pairs/slice-client.js", import.meta.url);

interface Footprint {
  readonly startMs: number;
  readonly loadedMiB: number;
}

/** The processor time of a process until its first response, and its memory after some load. */
export function starts(servers: Sides<Served>): Pick<Contest, "launch" | "seconds"> {
  const launch: Contest["launch"] = async (number) => {
    const first = number % 2 === 0 ? "ours" : "theirs";
    const before = await measure(servers[first]);
    const after = await measure(servers[first === "ours" ? "theirs" : "ours"]);
    const [ours, theirs] = first === "ours" ? [before, after] : [after, before];
    const rowOf = (name: string, of: (footprint: Footprint) => number) => {
      const cost = { ours: of(ours), theirs: of(theirs) };
      return { name, ratio: cost.theirs / cost.ours, cost };
    };
    return [
      rowOf("first response, ms", ({ startMs }) => startMs),
      rowOf("memory after 10,000 requests, MiB", ({ loadedMiB }) => loadedMiB),
    ];
  };
  return { launch, seconds: 2 };
}

async function measure({ script, options }: Served): Promise<Footprint> {
  const started = performance.now();
  const server = await startServer(script, options);
  try {
    await (await fetch(`${server.url}/health`)).text();
    const startMs = (threadSeconds(server.pid) ?? (performance.now() - started) / 1e3) * 1e3;
    const load = { url: server.url, connections: 10, databaseUrl: null };
    const client = new SliceProcess(CLIENT, [JSON.stringify(load)], CLIENT_CORE);
    await client.ready();
    await client.slice(0, LOAD);
    await client.stop();
    return { startMs, loadedMiB: residentMiB(server.pid) };
  } finally {
    await server.stop();
  }
}

/** The resident memory of a process. @throws Error if the system does not tell. */
function residentMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}
