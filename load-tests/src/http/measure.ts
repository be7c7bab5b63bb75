/** Measures one server over HTTP. @module */
import { CLIENT_CORE } from "../cores.js";
import { runWorker } from "../processes.js";
import type { WorkerReport } from "../report.js";
import type { Load } from "./send.js";
import { type ServerOptions, startServer } from "./server-process.js";

const CLIENT = new URL("client.js", import.meta.url);

/** Starts a server in a fresh process and loads it by a client in another one, each on a separate core. */
export async function measureServer(
  script: URL,
  load: Omit<Load, "url" | "serverPid">,
  options: ServerOptions = {},
): Promise<WorkerReport> {
  const server = await startServer(script, options);
  try {
    const whole: Load = { ...load, url: server.url, serverPid: server.pid };
    return await runWorker(CLIENT, [JSON.stringify(whole)], CLIENT_CORE);
  } finally {
    await server.stop();
  }
}

/** The reports of one server as one. */
export function joinReports(reports: readonly WorkerReport[]): WorkerReport {
  return { rows: reports.flatMap(({ rows }) => rows), faults: reports.flatMap(({ faults }) => faults) };
}
