import { connect } from "node:net";
import { fieldBlock, frame, PREFACE, requestFields, setting } from "./lib/http2-frames.js";
import { demand } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { sleep, Wire } from "./lib/wire.js";

export const fault = "50 clients that request 8 MiB and do not read, or read 1 kB per second; HTTP/1.1, HTTP/2";
export const pass =
  "the connections are closed within 25 s, then RSS is at most 100 MiB above the start, others are served";

const CLIENTS = 50;
const LIMIT_MS = 25_000;
const HTTP1 = "GET /whole/8 HTTP/1.1\r\nHost: a\r\n\r\n";
const HTTP2 = Buffer.concat([
  PREFACE,
  frame(4, 0, 0, setting(4, 0)),
  frame(1, 5, 1, fieldBlock(requestFields("GET", "/whole/8"))),
]);

export async function run() {
  return [
    await attack("HTTP/1.1", HTTP1, 0),
    await attack("read slowly", HTTP1, 1000),
    await attack("HTTP/2", HTTP2, 0),
  ].join("; ");
}

async function attack(name, request, readBytes) {
  const options = { http2: request === HTTP2, loop: "libuv" };
  const server = await Server.start(options, { args: ["--expose-gc"] });
  const sockets = [];
  try {
    const before = server.resources;
    for (let index = 0; index < CLIENTS; index++) sockets.push(client(server.port, request, readBytes));
    const startedAt = performance.now();
    const elapsedMs = () => performance.now() - startedAt;
    let peak = 0;
    do {
      await sleep(200);
      peak = Math.max(peak, server.resources.rssMiB - before.rssMiB);
    } while (server.resources.files > before.files && elapsedMs() < LIMIT_MS);
    const left = server.resources.files - before.files;
    const seconds = (elapsedMs() / 1000).toFixed(1);
    const wire = new Wire(server.port);
    const answer = await wire.ask("/fast");
    wire.destroy();
    server.kill("SIGUSR2");
    await sleep(500);
    const kept = server.resources.rssMiB - before.rssMiB;
    const figure = `${name}: +${Math.round(peak)} MiB, +${Math.max(0, Math.round(kept))} after ${seconds} s, ${left} open`;
    demand(peak > 300 && left <= 0 && kept <= 100 && answer.startsWith("HTTP/1.1 200 "), figure);
    return figure;
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.stop();
  }
}

/** A client that reads so many bytes per second, or does not read. */
function client(port, request, readBytes) {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {}).pause();
  socket.write(request);
  if (readBytes > 0) {
    const timer = setInterval(() => socket.read(readBytes), 1000);
    socket.on("close", () => clearInterval(timer));
  }
  return socket;
}
