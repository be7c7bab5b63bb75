/** Sends every shape through a proxy, and compares its log with the requests that the application received. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { demand, Skipped } from "./outcome.js";
import { Server } from "./server.js";
import { SHAPES } from "./smuggling.js";
import { eventually, sleep, Wire } from "./wire.js";

/**
 * `start(folder, port, upstream)` returns the arguments; `logged(folder, output)` the requests that were forwarded to
 * the application, each with the logged status. All requests with a 200 response must have been received, and every
 * received request must have been logged: a request that the server rejects itself is logged and not received.
 */
export async function compare({ command, start, logged }) {
  const folder = mkdtempSync(join(tmpdir(), "tsgi-proxy-"));
  const server = await Server.start({ loop: "libuv" }, { file: "heard.js" });
  const port = await freePort();
  const proxy = spawn(command, start(folder, port, server.port), { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [proxy.stdout, proxy.stderr]) stream.on("data", (chunk) => (output += chunk));
  const failure = once(proxy, "error").then(() => true);
  try {
    if (await Promise.race([failure, opens(port)])) throw new Skipped(`${command} is not installed`);
    const wrong = [];
    for (const [name, request] of SHAPES) {
      const before = { heard: heard(server), logged: logged(folder, output) };
      const wire = new Wire(port).write(request);
      await Promise.race([wire.closed, sleep(150)]);
      wire.destroy();
      await new Wire(port).write("GET /after HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").closed;
      const gained = () => ({
        heard: heard(server).slice(before.heard.length),
        logged: logged(folder, output).slice(before.logged.length),
      });
      if (!(await eventually(() => agree(gained()), 1500))) wrong.push(`${name}: ${JSON.stringify(gained())}`);
    }
    demand(wrong.length === 0, `${wrong.length} of ${SHAPES.length} shapes heard unlike logged; ${wrong.join("; ")}`);
    return `${SHAPES.length} shapes, ${logged(folder, output).length} requests logged, ${heard(server).length} heard`;
  } finally {
    proxy.kill("SIGTERM");
    await server.stop();
    await sleep(200);
    rmSync(folder, { recursive: true, force: true });
  }
}

function agree({ heard: calls, logged: lines }) {
  const answered = lines.filter(({ status }) => status === "200").map(({ request }) => request);
  const sent = lines.map(({ request }) => request);
  return without(answered, calls).length === 0 && without(calls, sent).length === 0;
}

/** The texts that are left when each of the others has taken one that is its like. */
function without(texts, others) {
  const rest = [...others];
  return texts.filter((text) => {
    const place = rest.indexOf(text);
    if (place !== -1) rest.splice(place, 1);
    return place === -1;
  });
}

function heard(server) {
  return Array.from(server.stdout.matchAll(/^heard (.*)$/gm), ([, request]) => request);
}

async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  return port;
}

async function opens(port) {
  const isOpen = await eventually(async () => {
    const wire = new Wire(port);
    const connected = await new Promise((resolve) => {
      wire.socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    });
    wire.destroy();
    return connected;
  }, 5000);
  demand(isOpen, "the proxy does not listen");
  return false;
}
