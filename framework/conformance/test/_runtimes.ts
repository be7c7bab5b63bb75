/** The servers of the slow run: on uWebSockets.js, and on Bun and Deno, which run a program with the built package. */
import { execFile, execFileSync } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import type { ASGIApp } from "tsgi";
import { useLoopPackage } from "../../core/src/platforms/concurrency/loop.js";
import { checkServer, overSocket, type StartedServer } from "../src/index.js";
import { serve } from "tsgi/node";
import { fetchedUws } from "../../uwebsockets/test/_uws.js";
import { KeptLog } from "../../test/support/kept-log.js";
import { type AnyResult, type Column, toColumn } from "./_matrix.js";

const PROGRAM = path.join(import.meta.dirname, "program.mjs");
const RUNTIMES = path.join(import.meta.dirname, "../../scripts/runtimes.js");

/** The arguments of each runtime for a program. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  bun: [],
  deno: ["run", "--allow-all", "--no-prompt"],
};

/** The results of one subject. */
export interface Run {
  readonly name: string;
  readonly results: readonly AnyResult[];
}

/** Runs the program on a runtime, which is downloaded if it is missing. */
export async function runOn(runtime: string): Promise<Run[]> {
  const [, binary = ""] = execFileSync(process.execPath, [RUNTIMES, runtime]).toString().trim().split(" ");
  const args = [...(ARGUMENTS[runtime] ?? []), PROGRAM];
  const { stdout } = await promisify(execFile)(binary, args, { maxBuffer: 1 << 24 });
  return JSON.parse(stdout) as Run[];
}

/** Starts the server of Node on uWebSockets.js. */
export async function startUws(app: ASGIApp): Promise<StartedServer> {
  const settings = { port: 0, signals: false, logger: new KeptLog() };
  const server = await serve(app, { ...settings, loop: "uwebsockets" });
  if (server.loop !== "uwebsockets") throw new Error(`The server runs on ${server.loop}.`);
  return overSocket(server.url, () => server.close());
}

/** The column of the uWebSockets.js loop, on this Node.js; undefined without a binary. */
async function runUws(): Promise<Column[]> {
  const uws = fetchedUws();
  if (uws === null) return [];
  useLoopPackage(uws);
  try {
    return [toColumn("serve, uWebSockets.js", await checkServer(startUws))];
  } finally {
    useLoopPackage(null);
  }
}

/** The columns of all. */
export async function runRuntimes(): Promise<Column[]> {
  const columns = await runUws();
  for (const runtime of Object.keys(ARGUMENTS)) {
    for (const { name, results } of await runOn(runtime)) columns.push(toColumn(name, results));
  }
  return columns;
}
