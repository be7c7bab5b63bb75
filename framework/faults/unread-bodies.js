import { connect } from "node:net";
import { demand } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { sleep } from "./lib/wire.js";

export const fault = "100 uploads of 10 MiB, and 100 in chunks of one byte, to handlers that do not read them";
export const pass = "RSS grows by 100 MiB at most; all requests get a response";

const CLIENTS = 100;
const bodies = [
  { what: "10 MiB", header: `Content-Length: ${10 << 20}`, body: Buffer.alloc(10 << 20, "x") },
  { what: "single bytes", header: "Transfer-Encoding: chunked", body: Buffer.from("1\r\nx\r\n".repeat(200_000)) },
];

export async function run() {
  const figures = [];
  for (const { what, header, body } of bodies) {
    const server = await Server.start();
    const sockets = [];
    try {
      const before = server.resources.rssMiB;
      let peak = before;
      const timer = setInterval(() => (peak = Math.max(peak, server.resources.rssMiB)), 50);
      const answered = Array.from({ length: CLIENTS }, () => {
        const socket = connect(server.port, "127.0.0.1");
        sockets.push(socket);
        socket.on("error", () => {}); // the server closes after a response that leaves so much unread
        socket.write(`POST /slow HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n`);
        socket.write(body);
        return new Promise((resolve) =>
          socket.once("data", (chunk) => resolve(chunk.toString())).once("close", resolve),
        );
      });
      await sleep(1500);
      clearInterval(timer);
      figures.push(`${what} +${Math.round(peak - before)} MiB`);
      demand(peak - before <= 100, figures.join(", "));
      const answers = await Promise.all(answered);
      const good = answers.filter((answer) => String(answer).startsWith("HTTP/1.1 200 ")).length;
      demand(good === CLIENTS, `${what}: ${good} of ${CLIENTS} answered`);
    } finally {
      for (const socket of sockets) socket.destroy();
      await server.stop();
    }
  }
  return figures.join(", ");
}
