import { demand } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { sleep, Wire } from "./lib/wire.js";

export const fault = "10,000 WebSockets";
export const pass = "all alive; at most twice the memory of bare ws";

const CONNECTIONS = 10_000;
const HANDSHAKE =
  "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
  "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
/** A masked text frame with the text "hi", and its echo. */
const HI = "\x81\x82\0\0\0\0hi";
const ECHO = "\x81\x02hi";

export async function run() {
  const ours = await measure("app.js");
  const bare = await measure("bare-ws.js");
  const figure = `${ours.toFixed(1)} KiB each, bare ws ${bare.toFixed(1)} KiB: ${(ours / bare).toFixed(2)} times`;
  demand(ours <= 2 * bare, figure);
  return figure;
}

async function measure(file) {
  const server = await Server.start({ loop: "libuv" }, { file, args: ["--expose-gc"] });
  const wires = [];
  try {
    for (let index = 0; index < 200; index++) wires.push(await opened(server.port));
    const before = await settled(server);
    while (wires.length < CONNECTIONS + 200) {
      wires.push(...(await Promise.all(Array.from({ length: 100 }, () => opened(server.port)))));
    }
    const after = await settled(server);
    const alive = await Promise.all(wires.map((wire) => echoes(wire)));
    demand(alive.every(Boolean), `${alive.filter(Boolean).length} of ${wires.length} alive`);
    return ((after - before) * 1024) / CONNECTIONS;
  } finally {
    for (const wire of wires) wire.destroy();
    await server.stop();
  }
}

async function opened(port) {
  const wire = new Wire(port).write(HANDSHAKE);
  await wire.until(/^HTTP\/1\.1 101 [^]*\r\n\r\n/);
  await echoes(wire);
  return wire;
}

async function echoes(wire) {
  wire.received = "";
  return wire
    .write(HI)
    .until(new RegExp(ECHO))
    .then(() => true)
    .catch(() => false);
}

async function settled(server) {
  for (let round = 0; round < 3; round++) {
    server.kill("SIGUSR2");
    await sleep(400);
  }
  return server.resources.rssMiB;
}
