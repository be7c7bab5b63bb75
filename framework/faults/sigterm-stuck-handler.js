import { demand } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { Wire } from "./lib/wire.js";

export const fault = "SIGTERM with a handler that never ends";
export const pass = "forced end at the limit ±0.5 s, a status, a line with the route";

const LIMIT_MS = 2000;

export async function run() {
  const figures = [];
  for (const workers of [1, 2]) {
    const server = await Server.start({ shutdownTimeoutMs: LIMIT_MS, workers });
    try {
      const wire = new Wire(server.port).write("GET /stuck/7 HTTP/1.1\r\nHost: a\r\n\r\n");
      await server.said(/^stuck$/m);
      const startedAt = performance.now();
      server.kill("SIGTERM");
      const { status } = await server.exited;
      const tookMs = performance.now() - startedAt;
      wire.destroy();
      const line = /Shutdown did not finish.*GET \/stuck\/7.*/.exec(server.stderr)?.[0];
      const figure = `${workers === 1 ? "" : "2 workers: "}exit ${status} after ${(tookMs / 1000).toFixed(2)} s`;
      demand(Math.abs(tookMs - LIMIT_MS) < 500 && status === 1 && line !== undefined, `${figure}; ${server.stderr}`);
      figures.push(figure);
    } finally {
      await server.stop();
    }
  }
  return figures.join(", ");
}
