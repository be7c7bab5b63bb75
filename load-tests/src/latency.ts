/** Latencies at a rate that every server holds, corrected for coordinated omission. @module */
import { CLIENT_CORE } from "./cores.js";
import { serversOf } from "./http.js";
import { startServer } from "./http/server-process.js";
import { runWorker } from "./processes.js";
import type { Progress } from "./progress.js";
import { takeTurns, type Result } from "./rounds.js";
import type { Settings } from "./settings.js";

const CLIENT = new URL("http/latency-client.js", import.meta.url);

/** Loads each server at the same rate, far below what it could do, as a service is loaded in its everyday life. */
export function measureLatency(settings: Settings, progress: Progress): Promise<Result[]> {
  const servers = serversOf(settings);
  const { ratePerSecond, seconds, rounds } = settings.latency;
  return takeTurns(Object.keys(servers), rounds, async (name, round) => {
    progress.step(`latency at ${ratePerSecond} a second, round ${round + 1} of ${rounds}: ${name}`);
    const server = await startServer(servers[name] ?? CLIENT);
    try {
      return await runWorker(CLIENT, [server.url, String(ratePerSecond), String(seconds)], [], CLIENT_CORE);
    } finally {
      await server.stop();
    }
  });
}
