import { demand } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { sleep, Wire } from "./lib/wire.js";

export const fault = "10,000 idle kept-alive connections";
export const pass = "all alive; at most the memory of bare node:http";

const CONNECTIONS = 10_000;

export async function run() {
  const ours = await measure("app.js");
  const bare = await measure("bare-http.js");
  const figure = `${ours.toFixed(1)} KiB each, bare node:http ${bare.toFixed(1)} KiB: ${(ours / bare).toFixed(2)} times`;
  demand(ours <= bare, figure);
  return figure;
}

/** KiB of memory for each of the connections, all of which still work at the end. */
async function measure(file) {
  const server = await Server.start({}, { file, args: ["--expose-gc"] });
  const wires = [];
  try {
    for (let index = 0; index < 200; index++) wires.push(await opened(server.port));
    const before = await settled(server);
    while (wires.length < CONNECTIONS + 200) {
      wires.push(...(await Promise.all(Array.from({ length: 100 }, () => opened(server.port)))));
    }
    const after = await settled(server);
    for (const wire of wires) wire.received = "";
    const answers = await Promise.all(wires.map((wire) => wire.ask("/fast").catch(() => "")));
    const alive = answers.filter((answer) => answer.startsWith("HTTP/1.1 200")).length;
    demand(alive === wires.length, `${alive} of ${wires.length} alive`);
    return ((after - before) * 1024) / CONNECTIONS;
  } finally {
    for (const wire of wires) wire.destroy();
    await server.stop();
  }
}

async function opened(port) {
  const wire = new Wire(port);
  await wire.ask("/fast");
  return wire;
}

/** The memory of the process after garbage collection. */
async function settled(server) {
  for (let round = 0; round < 3; round++) {
    server.kill("SIGUSR2");
    await sleep(400);
  }
  return server.resources.rssMiB;
}
