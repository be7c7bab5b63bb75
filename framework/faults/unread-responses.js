import { connect } from "node:net";
import { demand } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { sleep } from "./lib/wire.js";

export const fault =
  "50 clients that do not read their responses, then SIGTERM; 300 half-closed handshakes behind a request";
export const pass = "all cut in time, no file left; exit 0 in time; the next request is served";

const CLIENTS = 50;
const HANDSHAKES = 300;
const REQUEST_MS = 1000;
const SHUTDOWN_MS = 4000;
const SLOW = "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n";
const BIG = "GET /big?mib=64 HTTP/1.1\r\nHost: a\r\n\r\n";
const HANDSHAKE =
  "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
  "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";

export async function run() {
  const figures = [await cutInTime(), await stopInTime()];
  return figures.join("; ");
}

async function cutInTime() {
  const server = await Server.start({ loop: "libuv", timeouts: { requestMs: REQUEST_MS } });
  const sockets = [];
  try {
    const before = server.resources.files;
    for (let index = 0; index < HANDSHAKES; index++) sockets.push(silent(server.port, SLOW + HANDSHAKE, true));
    for (let index = 0; index < CLIENTS; index++) sockets.push(silent(server.port, BIG, false));
    const deadline = performance.now() + REQUEST_MS + 15_000;
    await sleep(500);
    const peak = server.resources.files - before;
    while (server.resources.files > before && performance.now() < deadline) await sleep(500);
    const left = server.resources.files - before;
    const figure = `${peak} connections held, ${left} left`;
    demand(left <= 0, figure);
    return figure;
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.stop();
  }
}

async function stopInTime() {
  const server = await Server.start({ loop: "libuv", shutdownTimeoutMs: SHUTDOWN_MS });
  const sockets = Array.from({ length: CLIENTS }, () => silent(server.port, BIG, false));
  try {
    await sleep(500);
    const startedAt = performance.now();
    server.kill("SIGTERM");
    const { status } = await server.exited;
    const figure = `SIGTERM: status ${status} after ${Math.round(performance.now() - startedAt)} ms`;
    demand(status === 0, figure);
    return figure;
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.stop();
  }
}

/** A client that sends, can end its side, and does not read. */
function silent(port, text, ends) {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {}).pause();
  socket.write(text);
  if (ends) socket.end();
  return socket;
}
