import { demand } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { eventually, Wire } from "./lib/wire.js";

export const fault = "100 clients that ask for more CPU time than there is, with shed: { eventLoopDelayMs: 100 }";
export const pass =
  "median of served requests at most a third of that without shed, the rest 503 with Retry-After; an exempt path stays 200; 200 within 2 s after it";

const CLIENTS = 100;
const DURATION_MS = 5000;

export async function run() {
  const without = await load({});
  const { served, rejected, other, probes, isBack } = await load({
    shed: { eventLoopDelayMs: 100, exempt: ["/fast"] },
  });
  const [ours, bare] = [median(served), median(without.served)];
  const live = probes.filter((status) => status === "200").length;
  const figure =
    `${served.length} served in ${Math.round(ours)} ms, without shed ${Math.round(bare)} ms; ${rejected} × 503, ` +
    `${other} other; ${live} of ${probes.length} probes 200`;
  demand(isBack, `${figure}; no 200 within 2 s after it`);
  demand(served.length > 0 && ours <= bare / 3 && rejected > 0 && other === 0, figure);
  demand(live > 0 && live === probes.length, figure);
  return figure;
}

/** Loads a server for some seconds, while another client asks for a path that is exempt. */
async function load(options) {
  const server = await Server.start(options);
  const wires = Array.from({ length: CLIENTS + 1 }, () => new Wire(server.port));
  try {
    const [probe, ...clients] = wires;
    const deadline = performance.now() + DURATION_MS;
    const results = { served: [], rejected: 0, other: 0, probes: [] };
    await Promise.all([
      ask(probe, "/fast", deadline, (answer) => results.probes.push(/^HTTP\/1\.1 (\d+)/.exec(answer)[1])),
      ...clients.map((wire) => ask(wire, "/spin", deadline, (answer, ms) => count(results, answer, ms))),
    ]);
    const isBack = await eventually(async () => (await probe.ask("/spin")).startsWith("HTTP/1.1 200"), 2000);
    return { ...results, isBack };
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

function median(values) {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Infinity;
}
