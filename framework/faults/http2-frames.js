import { readFileSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { connect as connectSecurely } from "node:tls";
import { Chance, packetsOf } from "./lib/http2-frames.js";
import { demand } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { sleep, Wire } from "./lib/wire.js";

// FC_SEED repeats a run, and FUZZ_MINUTES makes it longer.
const MINUTES = Number(process.env.FUZZ_MINUTES ?? 0.25);
const SEED = Number(process.env.FC_SEED ?? Math.trunc(Math.random() * 2 ** 31));
const AT_A_TIME = 16;
/** Connections between two requests that must get a response. */
const BATCH = 400;
const TIMEOUTS = { headersMs: 2000, requestMs: 2000, keepAliveMs: 2000, webSocketPingMs: 100 };

export const fault = "random and mutated HTTP/2 frames, with and without TLS";
export const pass = "the process survives, logs no error and responds";
export const limitMs = MINUTES * 60_000 + 60_000;

export async function run() {
  const read = (name) =>
    readFileSync(path.resolve(import.meta.dirname, "../core/test/platforms/node/fixtures", name), "utf8");
  const tls = { key: read("localhost.key.pem"), cert: read("localhost.cert.pem") };
  const options = { http2: true, timeouts: TIMEOUTS, loop: "libuv" };
  const plain = await Server.start(options);
  const secure = await Server.start({ ...options, tls });
  const deadline = performance.now() + MINUTES * 60_000;
  let tried = 0;
  try {
    while (performance.now() < deadline) {
      const first = SEED + tried;
      let next = first;
      const work = async () => {
        while (next < first + BATCH) await attack(plain.port, secure.port, new Chance(next++));
      };
      await Promise.all(Array.from({ length: AT_A_TIME }, work));
      tried += BATCH;
      const wire = new Wire(plain.port);
      const answer = await Promise.race([wire.ask("/fast").catch(String), sleep(10_000)]);
      wire.destroy();
      const said = plain.stderr + secure.stderr;
      const survives =
        String(answer).startsWith("HTTP/1.1 200 ") && isUp(plain) && isUp(secure) && !/error|assert/i.test(said);
      demand(survives, `FC_SEED=${first} within ${BATCH} connections: ${said.slice(0, 2000) || answer}`);
    }
  } finally {
    await Promise.all([plain.stop(), secure.stop()]);
  }
  return `${tried} connections on Node ${process.versions.node}, FC_SEED=${SEED}`;
}

function isUp({ pid }) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Opens a connection, sends its packets, and disconnects in one of the possible ways. */
async function attack(plainPort, securePort, chance) {
  const isSecure = chance.is(0.1);
  const socket = isSecure
    ? connectSecurely({ port: securePort, host: "127.0.0.1", ALPNProtocols: ["h2"], rejectUnauthorized: false })
    : connect(plainPort, "127.0.0.1");
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.on("error", () => {}).on("data", () => {});
  await Promise.race([new Promise((resolve) => socket.once(isSecure ? "secureConnect" : "connect", resolve)), closed]);
  socket.setNoDelay(true);
  if (chance.is(0.1)) socket.pause();
  for (const packet of packetsOf(chance)) {
    if (!socket.writable) break;
    socket.write(packet);
    await sleep(chance.below(3));
  }
  const end = chance.next();
  if (end < 0.4) socket.end();
  if (end < 0.7) await Promise.race([sleep(chance.below(30)), closed]);
  else if (end < 0.8) await Promise.race([sleep(250), closed]); // the server pings
  if (end > 0.9 && !isSecure) socket.resetAndDestroy();
  else socket.destroy();
  await closed;
}
