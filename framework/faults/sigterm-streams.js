import { once } from "node:events";
import { WebSocket } from "ws";
import { demand } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { Wire } from "./lib/wire.js";

export const fault = "SIGTERM with a WebSocket, four kinds of streams, a download and a background task";
export const pass =
  "1001 or 1012; events with ids and whenStopping: end are ended, events without ids cut, the others whole; task awaited, " +
  "hooks once, exit 0";

const END = "\r\n0\r\n\r\n";

async function open(port, method, path, pattern) {
  const wire = new Wire(port).write(`${method} ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`);
  await wire.until(pattern);
  return wire;
}

async function stopped(workers) {
  const server = await Server.start({ workers });
  try {
    const socket = new WebSocket(`${server.url.replace("http", "ws")}/ws`);
    await once(socket, "open");
    const closed = once(socket, "close");
    const wires = await Promise.all([
      open(server.port, "GET", "/events", /data: tick/),
      open(server.port, "GET", "/prices", /data: price/),
      open(server.port, "GET", "/lines", /line/),
      open(server.port, "POST", "/tokens", /data: token/),
      open(server.port, "GET", "/download", /ddd/),
    ]);
    await new Wire(server.port).ask("/task");
    server.kill("SIGTERM");
    const [[code], { status }, ...texts] = await Promise.all([
      closed,
      server.exited,
      ...wires.map((wire) => wire.closed),
    ]);
    const [events, prices, lines, tokens, file] = texts;
    const bytes = file.match(/d{1000}/g)?.length * 1000;
    const count = tokens.match(/data: token/g).length;
    const hooks = server.stdout.match(/shutdown hook ran/g)?.length;
    const ends = texts.map((text) => (text.endsWith(END) ? "ended" : "cut")).join(" ");
    const figure = `close ${code}, ${ends}, ${count} tokens, ${bytes} bytes, hooks ${hooks} times, exit ${status}`;
    const isTaskFirst = /task ran[^]*shutdown hook ran/.test(server.stdout);
    demand([1001, 1012].includes(code) && isTaskFirst && hooks === workers && status === 0, figure);
    demand(ends === "ended cut ended ended ended" && count === 30 && bytes === 1_000_000, figure);
    demand(tokens.includes("event: done") && events.includes("id: 0") && lines.includes("line"), figure);
    demand(!prices.includes("id:"), figure);
    return figure;
  } finally {
    await server.stop();
  }
}

export async function run() {
  return `${await stopped(1)}; 2 workers: ${await stopped(2)}`;
}
