import { connect } from "node:net";
import { demand } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { sleep } from "./lib/wire.js";

export const fault = "1 GiB streamed in, 1 GiB streamed out to a slow reader, the same through gzip";
export const pass = "RSS grows by 100 MiB at most";

const MEBIBYTES = 1024;

export async function run() {
  const figures = [];
  const ways = [
    { what: "in", options: {}, work: streamIn },
    { what: "out", options: {}, work: (port) => streamOut(port, "") },
    { what: "gzip", options: { zips: true }, work: (port) => streamOut(port, "Accept-Encoding: gzip\r\n") },
  ];
  for (const { what, options, work } of ways) {
    const server = await Server.start(options);
    try {
      const before = server.resources.rssMiB;
      let peak = before;
      const timer = setInterval(() => (peak = Math.max(peak, server.resources.rssMiB)), 50);
      await work(server.port);
      clearInterval(timer);
      const figure = `${what} +${Math.round(peak - before)} MiB`;
      figures.push(figure);
      demand(peak - before <= 100, figures.join(", "));
    } finally {
      await server.stop();
    }
  }
  return figures.join(", ");
}

async function streamIn(port) {
  const socket = connect(port, "127.0.0.1");
  let answer = "";
  socket.on("data", (chunk) => (answer += chunk));
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write(`POST /count HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${MEBIBYTES << 20}\r\n\r\n`);
  const chunk = Buffer.alloc(1 << 20, "x");
  for (let index = 0; index < MEBIBYTES; index++) {
    if (!socket.write(chunk)) await new Promise((resolve) => socket.once("drain", resolve));
  }
  await closed;
  demand(answer.endsWith(`{"bytes":${MEBIBYTES << 20}}`), answer.slice(0, 300));
}

async function streamOut(port, header) {
  const socket = connect(port, "127.0.0.1");
  socket.write(`GET /big?mib=${MEBIBYTES} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${header}\r\n`);
  socket.pause();
  await sleep(1500); // without a reader: produced data waits in memory, or is not produced
  let bytes = 0;
  let last = Buffer.alloc(0);
  for await (const chunk of socket) {
    bytes += chunk.length;
    last = chunk;
    if (bytes % (64 << 20) < chunk.length) await sleep(30);
  }
  demand(last.subarray(-5).toString() === "0\r\n\r\n", "the stream was cut");
  demand(header !== "" || bytes > MEBIBYTES << 20, `only ${bytes} bytes arrived`);
}
