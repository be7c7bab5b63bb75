import { connect as connectHTTP2, constants } from "node:http2";
import { demand } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { Wire } from "./lib/wire.js";

export const fault = "SIGTERM with streams that do not end in time";
export const pass = "each is cut at the limit: no last chunk, a reset on HTTP/1.0, RST_STREAM on HTTP/2; exit 1";

const LIMIT_MS = 1000;

/** The end that a client of HTTP/1 sees. */
async function endOf(port, version) {
  const wire = new Wire(port).write(`POST /endless HTTP/${version}\r\nHost: a\r\nContent-Length: 0\r\n\r\n`);
  let reset = false;
  wire.socket.on("error", ({ code }) => (reset = code === "ECONNRESET"));
  await wire.until(/data: price/);
  const end = wire.closed.then((text) => (reset ? "reset" : text.endsWith("\r\n0\r\n\r\n") ? "ended" : "cut"));
  return { end };
}

async function endOfHTTP2(url) {
  const session = connectHTTP2(url).on("error", () => {});
  const stream = session.request({ ":method": "POST", ":path": "/endless" }).on("error", () => {});
  const end = new Promise((resolve) => {
    stream.on("close", () => resolve(stream.rstCode === constants.NGHTTP2_INTERNAL_ERROR ? "RST_STREAM" : "ended"));
  });
  stream.end();
  await new Promise((resolve) => stream.on("data", resolve));
  return { end };
}

export async function run() {
  const server = await Server.start({ shutdownTimeoutMs: LIMIT_MS, http2: true });
  try {
    const clients = await Promise.all([endOf(server.port, "1.1"), endOf(server.port, "1.0"), endOfHTTP2(server.url)]);
    const startedAt = performance.now();
    server.kill("SIGTERM");
    const { status } = await server.exited;
    const tookMs = performance.now() - startedAt;
    const ends = (await Promise.all(clients.map(({ end }) => end))).join(", ");
    const figure = `${ends}, exit ${status} after ${(tookMs / 1000).toFixed(2)} s`;
    demand(ends === "cut, reset, RST_STREAM" && status === 1 && Math.abs(tookMs - LIMIT_MS) < 500, figure);
    return figure;
  } finally {
    await server.stop();
  }
}
