/**
 * `npm run harness -w load-tests`: the cost of the measurements themselves.
 *
 * @module
 */
import { EXAMPLES } from "./examples.js";
import { sendMany } from "./http/send.js";
import { startServer } from "./http/server-process.js";
import { Connection, readAnswer, toWire } from "./latency/connection.js";
import { saturate } from "./latency/loops.js";
import { watchMachine } from "./machine.js";
import { runScript } from "./processes.js";
import { watchProcessor } from "./processor-time.js";
import { median } from "./statistics.js";
import { formatTable } from "./table.js";

/** The fastest server: beside it a client costs most. */
const FLOOR = new URL("http/servers/net-loop.js", import.meta.url);

const EMPTY = new URL("startup/bare.js", import.meta.url);

const CONNECTIONS = 64;

const rows = [
  ["the processor time of a process, read from /proc", await time(200, () => watchProcessor(process.pid))],
  ["the clocks of the machine, read twice a section", await time(200, () => watchMachine())],
  ["an empty process, with the pipes to it", await time(10, () => runScript(EMPTY))],
  ...(await clients()),
] as const;
const lines = rows.map(([name, microseconds]) => [name, `${microseconds.toFixed(1)} µs`]);
process.stdout.write(`${formatTable(["", "cost"], lines)}\n`);

/** The median time of a call in microseconds. */
async function time(calls: number, call: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < calls; count++) {
    const started = performance.now();
    await call();
    times.push((performance.now() - started) * 1_000);
  }
  return median(times);
}

/** The processor time of each client for one request, in microseconds. */
async function clients(): Promise<[string, number][]> {
  const server = await startServer(FLOOR);
  const [example] = EXAMPLES as readonly [(typeof EXAMPLES)[number]];
  const request = toWire(server.url, example);
  const expected = await readAnswer(server.url, request);
  const load = { url: server.url, serverPid: server.pid, connections: CONNECTIONS };
  const shot = { ...example, headers: {}, status: expected.status, expected: expected.body };
  const opened = Array.from({ length: CONNECTIONS }, () => Connection.open(server.url, request, expected));
  const connections = await Promise.all(opened);
  try {
    const autocannon = await sendMany(load, shot, { requests: 50_000, pipelining: 1 });
    if (typeof autocannon === "string") throw new Error(autocannon);
    const { clientLoad = 0, perSecond = 1 } = autocannon;
    const raw = await saturate(connections, 1, server.pid);
    return [
      ["autocannon, a request", (clientLoad / perSecond) * 1e6],
      ["the client of latencies, a request", (raw.clientLoad / raw.perSecond) * 1e6],
    ];
  } finally {
    connections.forEach((connection) => connection.close());
    await server.stop();
  }
}
