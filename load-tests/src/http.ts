/** The autocannon runs of the reference protocol: requests per second and latency, for orientation. @module */
import { CLIENT_CORE } from "./cores.js";
import { startServer } from "./http/server-process.js";
import { runWorker } from "./processes.js";
import type { Progress } from "./progress.js";
import { takeTurns, type Result } from "./rounds.js";
import type { Settings } from "./settings.js";

const WORKER = new URL("http/worker.js", import.meta.url);

const SERVER = new URL("http/servers/tsgi.js", import.meta.url);

/** Loads `serve` once. Server and client are separate processes. */
export async function measureHTTP(settings: Settings, progress: Progress): Promise<Result[]> {
  return takeTurns(["tsgi serve"], 1, async (name) => {
    progress.step(`http, ${name} with autocannon`);
    const server = await startServer(SERVER);
    try {
      return await runWorker(WORKER, [server.url, String(settings.requests), String(settings.warmUp)], CLIENT_CORE);
    } finally {
      await server.stop();
    }
  });
}
