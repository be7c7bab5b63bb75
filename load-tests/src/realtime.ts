/** Connections that stay open: WebSockets, server-sent events, and idle ones. @module */
import { fileURLToPath } from "node:url";
import { CLIENT_CORE } from "./cores.js";
import type { Contenders } from "./contenders.js";
import { startServer } from "./http/server-process.js";
import { PEERS } from "./paths.js";
import { runWorker } from "./processes.js";
import type { Progress } from "./progress.js";
import { type RealtimeLoad, type Scene, SCENES } from "./realtime/load.js";
import type { WorkerReport } from "./report.js";
import { takeTurns, type Result } from "./rounds.js";
import type { Settings } from "./settings.js";

const CLIENT = new URL("realtime/client.js", import.meta.url);
const COLLECT = fileURLToPath(new URL("realtime/collect.js", import.meta.url));
const COMMAND = [process.execPath, "--expose-gc", "--import", COLLECT];

const OWN = new URL("realtime/server.js", import.meta.url);

const PEER_SERVERS: Contenders = {
  "bare node:http": new URL("realtime/node-http.js", PEERS),
  Fastify: new URL("realtime/fastify.js", PEERS),
  Hono: new URL("realtime/hono.js", PEERS),
  Elysia: new URL("realtime/elysia.js", PEERS),
  Express: new URL("realtime/express.js", PEERS),
};

/** `ws` loads this addition wherever it finds it: all servers go without. */
const ENVIRONMENT = { WS_NO_BUFFER_UTIL: "1" };

/** Plays every scene with each server, each in a fresh process. */
export function measureRealtime(settings: Settings, progress: Progress): Promise<Result[]> {
  const servers: Contenders = { "tsgi serve": OWN, ...(settings.peers ? PEER_SERVERS : {}) };
  const { rounds } = settings.realtime;
  return takeTurns(Object.keys(servers), rounds, async (name, round) => {
    const reports: WorkerReport[] = [];
    for (const scene of SCENES) {
      progress.step(`${scene}, round ${round + 1} of ${rounds}: ${name}`);
      reports.push(await play(scene, servers[name] ?? OWN, settings));
    }
    return { rows: reports.flatMap(({ rows }) => rows), faults: reports.flatMap(({ faults }) => faults) };
  });
}

async function play(scene: Scene, script: URL, { realtime }: Settings): Promise<WorkerReport> {
  const server = await startServer(script, { command: COMMAND, environment: ENVIRONMENT });
  const load: RealtimeLoad = { ...realtime, scene, url: server.url, serverPid: server.pid };
  try {
    return await runWorker(CLIENT, [JSON.stringify(load)], [], CLIENT_CORE);
  } finally {
    await server.stop();
  }
}
