/** Measures the servers of a suite. @module */
import { CLIENT_CORE } from "../cores.js";
import type { Contenders } from "../contenders.js";
import { startServer } from "../http/server-process.js";
import { runWorker } from "../processes.js";
import type { Progress } from "../progress.js";
import type { WorkerReport } from "../report.js";
import { takeTurns, type Result } from "../rounds.js";
import type { Settings } from "../settings.js";
import type { SuiteLoad } from "./load.js";

const CLIENT = new URL("client.js", import.meta.url);

/**
 * Untimed requests, as a share of the timed ones. After 25 requests of 20 queries, the next 250 took a server twice the processor
 * time of those behind the first 500.
 */
const WARM_UP = 0.25;

/** A suite: its servers, and the variables of their processes. */
export interface Suite {
  readonly name: SuiteLoad["suite"];
  readonly servers: Contenders;
  readonly environment?: Readonly<Record<string, string>>;
  readonly databaseUrl?: string;
}

/** Measures each server in a fresh process, all suites of a round one after the other. */
export function measureSuites(
  title: string,
  suites: readonly [Suite, ...Suite[]],
  settings: Settings,
  progress: Progress,
): Promise<Result[]> {
  const { rounds } = settings.suites;
  return takeTurns(Object.keys(suites[0].servers), rounds, async (name, round) => {
    progress.step(`${title}, round ${round + 1} of ${rounds}: ${name}`);
    const reports: WorkerReport[] = [];
    for (const suite of suites) reports.push(await measureServer(name, suite, settings));
    return { rows: reports.flatMap(({ rows }) => rows), faults: reports.flatMap(({ faults }) => faults) };
  });
}

async function measureServer(
  name: string,
  { name: suite, servers, environment = {}, databaseUrl }: Suite,
  settings: Settings,
): Promise<WorkerReport> {
  const server = await startServer(servers[name] ?? CLIENT, { environment });
  const load: SuiteLoad = {
    suite,
    url: server.url,
    serverPid: server.pid,
    connections: settings.http.connections,
    requests: settings.suites.requests,
    warmUp: settings.suites.requests * WARM_UP,
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
  };
  let report: WorkerReport;
  let status: number | null = null;
  try {
    report = await runWorker(CLIENT, [JSON.stringify(load)], [], CLIENT_CORE);
  } finally {
    status = await server.stop();
  }
  return status ? { ...report, faults: [...report.faults, `The server ended with the status ${status}.`] } : report;
}
