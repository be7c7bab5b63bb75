import { demand } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { eventually, sleep, Wire } from "./lib/wire.js";

export const fault = "kill -9 of a server worker, then SIGHUP, under load on kept-alive connections";
export const pass = "replaced within 2 s; the rolling restart loses no request";

export async function run() {
  const server = await Server.start({ workers: 2 });
  const over = new AbortController();
  let answered = 0;
  try {
    /** One request after the other; a connection that is told to close is followed by another. */
    const client = async () => {
      while (!over.signal.aborted) {
        const wire = new Wire(server.port);
        for (let closes = false; !closes && !over.signal.aborted; answered++) {
          closes = /connection: close/i.test(await wire.ask("/fast"));
        }
        wire.destroy();
      }
    };
    const workers = () => childrenOf(server.pid);
    const [victim] = await workers();
    const killedAt = performance.now();
    process.kill(victim, "SIGKILL");
    await eventually(async () => !(await workers()).includes(victim), 1000);
    await eventually(async () => (await workers()).length === 2, 5000);
    await server.said(/A worker ended/, "stderr");
    await sleep(500);
    const replacedMs = performance.now() - killedAt - 500;
    const clients = Array.from({ length: 50 }, client);
    await sleep(300);
    const before = await workers();
    server.kill("SIGHUP");
    await server.said(/All workers are restarted/, "stderr");
    over.abort();
    const lost = (await Promise.allSettled(clients)).filter(({ status }) => status === "rejected");
    const kept = (await workers()).filter((pid) => before.includes(pid));
    const figure = `replaced in ${Math.round(replacedMs)} ms; ${answered} answered, ${lost.length} lost, ${kept.length} workers kept`;
    demand(replacedMs < 2000 && lost.length === 0 && kept.length === 0, `${figure} ${lost[0]?.reason ?? ""}`);
    return figure;
  } finally {
    over.abort();
    await server.stop();
  }
}

async function childrenOf(pid) {
  const { readFile } = await import("node:fs/promises");
  return (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).trim().split(" ").filter(Boolean).map(Number);
}
