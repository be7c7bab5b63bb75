/** The same routes on other runtimes, compared with frameworks for these runtimes. @module */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Contenders } from "./contenders.js";
import { joinReports, measureServer } from "./http/measure.js";
import { PEERS, REPOSITORY } from "./paths.js";
import type { Progress } from "./progress.js";
import type { WorkerReport } from "./report.js";
import { takeTurns, type Result } from "./rounds.js";
import type { Settings } from "./settings.js";

const SERVE = new URL("http/servers/tsgi.js", import.meta.url);

/** A runtime: its name in tables and for the installer, the arguments before a script, and its servers. */
interface Runtime {
  readonly title: string;
  readonly name: string;
  readonly args: readonly string[];
  readonly servers: Contenders;
}

/** `app.fetch` on the runtime's own server; Hono and Elysia the same. */
const BY_FETCH: Contenders = {
  "tsgi app.fetch": new URL("runtimes/tsgi.js", PEERS),
  Hono: new URL("runtimes/hono.js", PEERS),
  Elysia: new URL("runtimes/elysia.js", PEERS),
};

const RUNTIMES: readonly Runtime[] = [
  { title: "Bun", name: "bun", args: ["run"], servers: { "tsgi serve": SERVE, ...BY_FETCH } },
  { title: "Deno", name: "deno", args: ["run", "--allow-all"], servers: { "tsgi serve": SERVE, ...BY_FETCH } },
  {
    title: "Node 26",
    name: "node26",
    args: [],
    servers: {
      "tsgi serve": SERVE,
      Hono: new URL("http/hono.js", PEERS),
      Elysia: new URL("http/elysia.js", PEERS),
      Fastify: new URL("http/fastify.js", PEERS),
    },
  },
];

/** The names of the runtimes, in their order. */
export const RUNTIME_TITLES: readonly string[] = RUNTIMES.map(({ title }) => title);

/** Measures each server on each runtime. Without peers, and if the binaries do not run, the section is skipped. */
export async function measureRuntimes(settings: Settings, progress: Progress): Promise<Result[]> {
  if (!settings.peers || process.platform !== "linux" || process.arch !== "x64") return [];
  const binaries = await installRuntimes(progress);
  const contenders = [...new Set(RUNTIMES.flatMap(({ servers }) => Object.keys(servers)))];
  const { rounds, connections, warmUp, slowRequests: requests } = settings.http;
  const load = { suite: "routes", connections, pipelining: [1], warmUp, requests } as const;
  return takeTurns(contenders, rounds, async (contender, round) => {
    const reports: WorkerReport[] = [];
    for (const runtime of RUNTIMES) {
      const script = runtime.servers[contender];
      if (script === undefined) continue;
      progress.step(`on ${runtime.title}, round ${round + 1} of ${rounds}: ${contender}`);
      const command = [binaries.get(runtime.name) ?? runtime.name, ...runtime.args];
      reports.push(named(runtime.title, await measureServer(script, load, { command, stderr: "ignore" })));
    }
    return joinReports(reports);
  });
}

function named(runtime: string, { rows, faults }: WorkerReport): WorkerReport {
  return {
    rows: rows.map(({ name, figures }) => ({ name: `${name}, ${runtime}`, figures })),
    faults: faults.map((fault) => `${fault}, ${runtime}`),
  };
}

/** The path of each binary; those that are missing are fetched from npm, 60 to 150 MB each. */
async function installRuntimes(progress: Progress): Promise<ReadonlyMap<string, string>> {
  progress.step("installing the runtimes into .cache/runtimes");
  const installer = fileURLToPath(new URL("framework/scripts/runtimes.js", REPOSITORY));
  const names = RUNTIMES.map(({ name }) => name);
  const { stdout } = await promisify(execFile)(process.execPath, [installer, ...names]);
  return new Map(
    stdout
      .trim()
      .split("\n")
      .map((line) => line.split(" ") as [string, string]),
  );
}
