import { demand } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { eventually, Wire } from "./lib/wire.js";

export const fault = "100 clients that ask for more CPU time than there is, with shed: { eventLoopDelayMs: 100 }";
export const pass =
  "served requests ≤ 500 ms, the rest 503 with Retry-After; an exempt path stays 200; 200 for all within 2 s after it";

const CLIENTS = 100;
const DURATION_MS = 5000;

export async function run() {
  const server = await Server.start({ shed: { eventLoopDelayMs: 100, exempt: ["/fast"] } });
  const wires = Array.from({ length: CLIENTS + 1 }, () => new Wire(server.port));
  try {
    const probe = wires.pop();
    const deadline = performance.now() + DURATION_MS;
    const results = { served: [], rejected: 0, other: 0, probes: [] };
    const load = wires.map((wire) => ask(wire, "/spin", deadline, (answer, ms) => count(results, answer, ms)));
    const probing = ask(probe, "/fast", deadline, (answer) => results.probes.push(/^HTTP\/1\.1 (\d+)/.exec(answer)[1]));
    await Promise.all([...load, probing]);
    const isBack = await eventually(async () => (await probe.ask("/spin")).startsWith("HTTP/1.1 200"), 2000);
    const slowest = Math.max(...results.served);
    const live = results.probes.filter((status) => status === "200").length;
    const figure =
      `${results.served.length} served in at most ${Math.round(slowest)} ms, ${results.rejected} × 503, ` +
      `${results.other} other; ${live} of ${results.probes.length} probes 200`;
    demand(isBack, `${figure}; no 200 within 2 s after it`);
    const isGood = results.served.length > 0 && slowest <= 500 && results.rejected > 0 && results.other === 0;
    demand(isGood && live > 0 && live === results.probes.length, figure);
    return figure;
  } finally {
    for (const wire of wires) wire.destroy();
    await server.stop();
  }
}

/** Sends one request after the other until the deadline. */
async function ask(wire, path, deadline, report) {
  while (performance.now() < deadline) {
    const startedAt = performance.now();
    report(await wire.ask(path), performance.now() - startedAt);
  }
}

function count(results, answer, ms) {
  if (answer.startsWith("HTTP/1.1 200")) results.served.push(ms);
  else if (/^HTTP\/1\.1 503 .*\r\nretry-after: 1\r\n/is.test(answer)) results.rejected++;
  else results.other++;
}
