/** The time until a process is ready. @module */
import { type Contenders, contenderModule } from "./contenders.js";
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
export const REGISTER = "tsgi, 1,000 routes";

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

const OWN_ROUTES: Contenders = { [REGISTER]: new URL("startup/routes.js", import.meta.url) };

const PEER_ROUTES: Contenders = {
  "Fastify, 1,000 routes": new URL("startup/fastify-routes.js", PEERS),
  "Hono, 1,000 routes": new URL("startup/hono-routes.js", PEERS),
  "Elysia, 1,000 routes": new URL("startup/elysia-routes.js", PEERS),
};

/** The contenders of the table of 1,000 routes. */
export const REGISTRATIONS: readonly string[] = Object.keys({ ...OWN_ROUTES, ...PEER_ROUTES });

/**
 * Measures the life of a process from its start to its end, beside that of a process that does nothing; and, inside
 * a process, the registration of 1,000 routes with schemas. With peers, also
 * theirs.
 */
export async function measureStartup(settings: Settings, progress: Progress): Promise<Result[]> {
  const programs = settings.peers ? { ...PROGRAMS, ...PEER_IMPORTS } : PROGRAMS;
  const starts = await takeTurns(Object.keys(programs), settings.starts, (name, round) => {
    progress.step(`start-up, ${round + 1} of ${settings.starts}: ${name}`);
    return start(programs[name] ?? new URL("missing", import.meta.url));
  });
  const routes = settings.peers ? { ...OWN_ROUTES, ...PEER_ROUTES } : OWN_ROUTES;
  const registrations = await takeTurns(Object.keys(routes), settings.rounds, (name, round) => {
    progress.step(`registration, ${round + 1} of ${settings.rounds}: ${name}`);
    return runWorker(new URL("startup/register.js", import.meta.url), [contenderModule(name, routes)]);
  });
  return [...starts, ...registrations];
}

async function start(script: URL): Promise<WorkerReport> {
  const { wallMs } = await runScript(script);
  return { rows: [{ name: "process", figures: { ms: wallMs } }], faults: [] };
}
