import { spawn } from "node:child_process";
import { once } from "node:events";
import { demand, Skipped } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { percentile, sleep, Wire } from "./lib/wire.js";

export const fault = "slowhttptest: 500 connections that send their head, or their body, a byte at a time";
export const pass = "all closed in time, good requests p99 ≤ 50 ms meanwhile";

const CONNECTIONS = 500;
const TIMEOUT_MS = 4000;

export async function run() {
  const figures = [];
  for (const [what, flag] of [
    ["heads", "-H"],
    ["bodies", "-B"],
  ]) {
    const server = await Server.start({ timeouts: { headersMs: TIMEOUT_MS, requestMs: TIMEOUT_MS } });
    try {
      const quiet = [];
      const quietUntil = performance.now() + 2000;
      await askUntil(server.port, quiet, () => performance.now() > quietUntil);
      const quietP99 = percentile(quiet, 0.99);
      if (quietP99 > 25)
        throw new Skipped(`p99 is ${quietP99.toFixed(1)} ms without an attack: other work on this machine`);
      const args = [flag, "-c", CONNECTIONS, "-r", 250, "-i", 1, "-l", 12, "-p", 2, "-u", `${server.url}/count`];
      const attack = spawn("slowhttptest", args.map(String), { stdio: ["ignore", "pipe", "ignore"] });
      attack.stdout.resume();
      const ended = once(attack, "close").catch(() => {
        throw new Skipped("slowhttptest is not installed");
      });
      let isOver = false;
      ended.then(() => (isOver = true)).catch(() => (isOver = true));
      const times = [];
      let open = 0;
      await askUntil(server.port, times, () => {
        open = Math.max(open, server.resources.files);
        return isOver;
      });
      await ended;
      await sleep(500);
      const left = server.resources.files;
      const p99 = percentile(times, 0.99);
      const figure = `${what}: p99 ${p99.toFixed(1)} ms of ${times.length}, at most ${open} descriptors, ${left} after`;
      figures.push(figure);
      demand(p99 <= 50 && open > CONNECTIONS / 2 && left < 60, figures.join("; "));
    } finally {
      await server.stop();
    }
  }
  return figures.join("; ");
}

/** Sends a request on a new connection each time, and records how long each response takes. */
async function askUntil(port, times, isOver) {
  while (!isOver()) {
    const startedAt = performance.now();
    const wire = new Wire(port);
    const answer = await wire.ask("/fast");
    times.push(answer.startsWith("HTTP/1.1 200") ? performance.now() - startedAt : Infinity);
    wire.destroy();
    await sleep(10);
  }
}
