/** The cost of a server besides time: start, memory, packages on the disk. @module */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { serversOf } from "./http.js";
import { startServer } from "./http/server-process.js";
import { installedBytes } from "./installed-size.js";
import { PEERS, REPOSITORY } from "./paths.js";
import type { Progress } from "./progress.js";
import { takeTurns, type Result } from "./rounds.js";
import type { Settings } from "./settings.js";

/** The packages that a project on each server installs. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  Fastify: ["fastify"],
  Hono: ["hono", "@hono/node-server", "@hono/zod-validator", "zod"],
  h3: ["h3", "zod"],
  Elysia: ["elysia", "@elysiajs/node", "@sinclair/typebox", "file-type"],
  Express: ["express", "zod"],
  "uWebSockets.js": ["uWebSockets.js"],
};

const MIB = 1024 * 1024;

/** Requests before the memory is read the second time. */
const LOAD = 10_000;

/** Measures from the start of the process to its first answer, and its memory then and after some load. */
export function measureFootprint(settings: Settings, progress: Progress): Promise<Result[]> {
  const servers = serversOf(settings);
  return takeTurns(Object.keys(servers), settings.footprintRounds, async (name, round) => {
    progress.step(`start and memory, round ${round + 1} of ${settings.footprintRounds}: ${name}`);
    const started = performance.now();
    const server = await startServer(servers[name] ?? REPOSITORY);
    try {
      await (await fetch(`${server.url}/health`)).text();
      const startMs = performance.now() - started;
      const idleMiB = residentMiB(server.pid);
      await load(`${server.url}/health`);
      const figures = { startMs, idleMiB, loadedMiB: residentMiB(server.pid), installedMiB: sizeOf(name) / MIB };
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
export function residentMiB(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

function sizeOf(name: string): number {
  const packages = PACKAGES[name];
  if (packages !== undefined) return installedBytes(packages, fileURLToPath(PEERS));
  return name === "tsgi serve" ? installedBytes(["tsgi"], fileURLToPath(new URL("load-tests/", REPOSITORY))) : 0;
}
