import { demand } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { eventually, Wire } from "./lib/wire.js";

export const fault = "40 WebSockets whose clients send messages without reading";
export const pass = "all closed within two rounds of pings and 5 s";

const CLIENTS = 40;
const PING_MS = 2000;
const HANDSHAKE =
  "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
  "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
/** A text message of 512 KiB with the mask 0. */
const MESSAGE = `\x81\xff\0\0\0\0\0\x08\0\0\0\0\0\0${"a".repeat(512 << 10)}`;

export async function run() {
  const server = await Server.start({ loop: "libuv", timeouts: { webSocketPingMs: PING_MS } });
  const wires = [];
  try {
    const before = server.resources;
    for (let index = 0; index < CLIENTS; index++) {
      const wire = new Wire(server.port).write(HANDSHAKE);
      wires.push(wire);
      await wire.until(/\r\n\r\n/);
      wire.socket.pause();
      for (let sent = 0; sent < 40; sent++) wire.write(MESSAGE);
    }
    const { rssMiB } = server.resources;
    const left = () => server.resources.files - before.files;
    const startedAt = performance.now();
    await eventually(() => left() <= 0, 2 * PING_MS + 5000);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const figure = `${Math.max(left(), 0)} of ${CLIENTS} left after ${seconds} s, at most ${Math.round(rssMiB - before.rssMiB)} MiB`;
    demand(left() <= 0, figure);
    return figure;
  } finally {
    for (const wire of wires) wire.destroy();
    await server.stop();
  }
}
