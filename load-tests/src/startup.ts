/** The time until a process is ready. @module */
import { PEERS } from "./paths.js";
import { runScript, runWorker } from "./processes.js";
import type { Progress } from "./progress.js";
import type { WorkerReport } from "./report.js";
import { takeTurns, type Result } from "./rounds.js";
import type { Settings } from "./settings.js";

/** The contenders of the start-up table. */
export const BARE = "node, an empty module";
export const IMPORT = 'node, import "tsgi"';
export const SERVER = 'node, import "tsgi", its server';
export const REGISTER = "1,000 routes with schemas";

const PROGRAMS: Readonly<Record<string, URL>> = {
  [BARE]: new URL("startup/bare.js", import.meta.url),
  [IMPORT]: new URL("startup/import.js", import.meta.url),
  [SERVER]: new URL("startup/server.js", import.meta.url),
};

/** The least imports of an application on each peer, by its name in the table. */
export const PEER_IMPORTS: Readonly<Record<string, URL>> = {
  'node, import "fastify"': new URL("startup/fastify.js", PEERS),
  'node, import "hono", its server': new URL("startup/hono.js", PEERS),
  'node, import "h3"': new URL("startup/h3.js", PEERS),
  'node, import "elysia", its server': new URL("startup/elysia.js", PEERS),
  'node, import "express"': new URL("startup/express.js", PEERS),
};

/**
 * Measures the life of a process from its start to its end, beside that of a process that does nothing; and, inside
 * a process, the registration of 1,000 routes with schemas. With peers, also processes that import theirs.
 */
export async function measureStartup(settings: Settings, progress: Progress): Promise<Result[]> {
  const programs = settings.peers ? { ...PROGRAMS, ...PEER_IMPORTS } : PROGRAMS;
  const starts = await takeTurns(Object.keys(programs), settings.starts, (name, round) => {
    progress.step(`start-up, ${round + 1} of ${settings.starts}: ${name}`);
    return start(programs[name] ?? new URL("missing", import.meta.url));
  });
  const registrations = await takeTurns([REGISTER], settings.rounds, (name, round) => {
    progress.step(`registration, ${round + 1} of ${settings.rounds}: ${name}`);
    return runWorker(new URL("startup/register.js", import.meta.url), []);
  });
  return [...starts, ...registrations];
}

async function start(script: URL): Promise<WorkerReport> {
  const { wallMs } = await runScript(script);
  return { rows: [{ name: "process", figures: { ms: wallMs } }], faults: [] };
}
