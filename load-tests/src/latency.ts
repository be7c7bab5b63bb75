/** Latencies below each server's own saturation. @module */
import { CLIENT_CORE } from "./cores.js";
import { serversOf } from "./http.js";
import { startServer } from "./http/server-process.js";
import type { LatencyLoad } from "./latency/load.js";
import { runWorker } from "./processes.js";
import type { Progress } from "./progress.js";
import { takeTurns, type Result } from "./rounds.js";
import type { Settings } from "./settings.js";

const CLIENT = new URL("latency/client.js", import.meta.url);

const ROUTES = ["GET /users/{id}", "POST /users"];
const SHARES = [0.5, 0.8];
const WARM_UP_SECONDS = 0.4;

/** Finds the saturation of each server, and loads it with constant shares of that. */
export function measureLatency(settings: Settings, progress: Progress): Promise<Result[]> {
  const servers = serversOf(settings);
  const { rounds, seconds, samples } = settings.latency;
  return takeTurns(Object.keys(servers), rounds, async (name, round) => {
    progress.step(`latency, round ${round + 1} of ${rounds}: ${name}`);
    const server = await startServer(servers[name] ?? CLIENT);
    const load: LatencyLoad = {
      url: server.url,
      serverPid: server.pid,
      connections: settings.http.connections,
      routes: ROUTES,
      shares: SHARES,
      warmUpSeconds: WARM_UP_SECONDS,
      seconds,
      samples,
    };
    try {
      return await runWorker(CLIENT, [JSON.stringify(load)], [], CLIENT_CORE);
    } finally {
      await server.stop();
    }
  });
}
