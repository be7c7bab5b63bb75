import { demand } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { sleep, Wire } from "./lib/wire.js";

export const fault = "SIGTERM under 1,000 requests/s on 200 kept-alive connections, twenty 2-second requests running";
export const pass = "no failed request, Connection: close, exit 0 within the longest + 1 s";

const CONNECTIONS = 200;
const EVERY_MS = 200; // each: 5 a second, 1,000 in all

export async function run() {
  const server = await Server.start();
  try {
    let answered = 0;
    let isOver = false;
    const client = async (path) => {
      const wire = new Wire(server.port);
      for (;;) {
        const answer = await wire.ask(path);
        if (!answer.startsWith("HTTP/1.1 200")) throw new Error(answer);
        answered++;
        if (/connection: close/i.test(answer)) return wire.closed;
        if (isOver) throw new Error("a connection was kept by a server that had ended");
        await sleep(EVERY_MS * (0.5 + Math.random()));
      }
    };
    const clients = Array.from({ length: CONNECTIONS }, () => client("/fast"));
    await sleep(1500);
    const slow = Array.from({ length: 20 }, () => client("/slow"));
    await sleep(300);
    const startedAt = performance.now();
    server.kill("SIGTERM");
    const { status } = await server.exited;
    isOver = true;
    const tookMs = performance.now() - startedAt;
    const outcomes = await Promise.allSettled([...clients, ...slow]);
    const lost = outcomes.filter((outcome) => outcome.status === "rejected");
    const figure = `${answered} answered, ${lost.length} lost, exit ${status} after ${(tookMs / 1000).toFixed(2)} s`;
    // An idle connection without a request for half a second is closed, which a client may notice as it sends one.
    demand(lost.length === 0 && status === 0 && tookMs < 3000, `${figure} ${lost[0]?.reason ?? ""}`);
    return figure;
  } finally {
    await server.stop();
  }
}
