import { connect } from "node:net";
import { fieldBlock, frame, PREFACE, requestFields, setting } from "./lib/http2-frames.js";
import { demand } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { sleep, Wire } from "./lib/wire.js";

export const fault = "HTTP/2: 4 connections with a window of 0, each with 100 requests for 1 MiB";
export const pass = "RSS grows by 150 MiB at most, the connections are closed within 15 s, others are served";

const CONNECTIONS = 4;
const REQUESTS = Array.from({ length: 100 }, (_, index) =>
  frame(1, 5, 1 + 2 * index, fieldBlock(requestFields("GET", "/whole"))),
);

export async function run() {
  const server = await Server.start({ http2: true, loop: "libuv" });
  try {
    const before = server.resources.rssMiB;
    const open = new Set();
    for (let index = 0; index < CONNECTIONS; index++) {
      const socket = connect(server.port, "127.0.0.1");
      socket.on("error", () => {}).on("data", () => {});
      open.add(socket);
      socket.on("close", () => open.delete(socket));
      socket.write(Buffer.concat([PREFACE, frame(4, 0, 0, setting(4, 0)), ...REQUESTS]));
    }
    let peak = before;
    const startedAt = performance.now();
    const elapsedMs = () => performance.now() - startedAt;
    while (open.size > 0 && elapsedMs() < 15_000) {
      await sleep(50);
      peak = Math.max(peak, server.resources.rssMiB);
    }
    const figure = `+${Math.round(peak - before)} MiB, ${open.size} open after ${(elapsedMs() / 1000).toFixed(1)} s`;
    const wire = new Wire(server.port);
    const answer = await wire.ask("/fast");
    wire.destroy();
    demand(peak - before <= 150 && open.size === 0 && answer.startsWith("HTTP/1.1 200 "), figure);
    return figure;
  } finally {
    await server.stop();
  }
}
