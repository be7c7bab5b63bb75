/** The same routes over HTTP, with autocannon. @module */
import { startServer } from "./http/server-process.js";
import { runWorker } from "./processes.js";
import type { Progress } from "./progress.js";
import { takeTurns, type Result } from "./rounds.js";
import type { Settings } from "./settings.js";

const CLIENT = new URL("http/client.js", import.meta.url);

/** Each server by its name in tables. The first one is ours. */
const SERVERS: Readonly<Record<string, URL>> = {
  "tsgi serve": new URL("http/servers/tsgi.js", import.meta.url),
  "hand-written ASGI on serve": new URL("http/servers/hand-written.js", import.meta.url),
  "bare node:http": new URL("http/servers/node-http.js", import.meta.url),
};

/** Measures each server in a fresh process, loaded by a client in another one. */
export function measureHTTP(settings: Settings, progress: Progress): Promise<Result[]> {
  return takeTurns(Object.keys(SERVERS), settings.httpRounds, async (name, round) => {
    progress.step(`over HTTP, round ${round + 1} of ${settings.httpRounds}: ${name}`);
    const server = await startServer(SERVERS[name] ?? CLIENT);
    try {
      return await runWorker(CLIENT, [server.url, String(settings.httpRequests), String(settings.warmUp)]);
    } finally {
      await server.stop();
    }
  });
}
