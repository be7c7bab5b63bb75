import { once } from "node:events";
import { WebSocket } from "ws";
import { demand } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { Wire } from "./lib/wire.js";

export const fault = "SIGTERM with a WebSocket, a stream of events, a download and a background task";
export const pass = "1001 or 1012, stream ended, download whole, task awaited, hooks once";

export async function run() {
  const server = await Server.start();
  try {
    const socket = new WebSocket(`${server.url.replace("http", "ws")}/ws`);
    await once(socket, "open");
    const closed = once(socket, "close");
    const events = new Wire(server.port).write("GET /events HTTP/1.1\r\nHost: a\r\n\r\n");
    await events.until(/data: tick/);
    const download = new Wire(server.port).write("GET /download HTTP/1.1\r\nHost: a\r\n\r\n");
    await download.until(/ddd/);
    await new Wire(server.port).ask("/task");
    server.kill("SIGTERM");
    const [[code], stream, file, { status }] = await Promise.all([
      closed,
      events.closed,
      download.closed,
      server.exited,
    ]);
    const bytes = file.match(/d{1000}/g)?.length * 1000;
    const hooks = server.stdout.match(/shutdown hook ran/g)?.length;
    const isTaskFirst = /task ran[^]*shutdown hook ran/.test(server.stdout);
    const figure = `close ${code}, ${bytes} bytes, hooks ${hooks} time, exit ${status}`;
    const isEnded = stream.endsWith("\r\n0\r\n\r\n") && file.endsWith("\r\n0\r\n\r\n") && bytes === 1_000_000;
    demand([1001, 1012].includes(code) && isEnded && isTaskFirst && hooks === 1 && status === 0, figure);
    return figure;
  } finally {
    await server.stop();
  }
}
