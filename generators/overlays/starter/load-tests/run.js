/**
 * Starts the built application on a free port, sends each request of `requests.js` for some seconds over kept-alive
 * connections, prints the results, and stops it. Ends with status 1 after an unsuccessful response.
 *
 *     node load-tests/run.js --seconds 5 --connections 20
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { parseArgs } from "node:util";

import autocannon from "autocannon";

import { requests } from "./requests.js";

const { values } = parseArgs({
  options: { seconds: { type: "string", default: "3" }, connections: { type: "string", default: "20" } },
});
const duration = Math.min(Number(values.seconds), 60);
const warmUp = Math.min(duration, 1); // autocannon ends with a sample, so a short run needs short samples
const connections = Math.min(Number(values.connections), 200);

const server = fork(path.join(import.meta.dirname, "server.js"));
const ended = once(server, "exit");
try {
  const [url] = await Promise.race([
    once(server, "message"),
    ended.then(() => Promise.reject(new Error("the application does not start"))),
  ]);
  for (const { path: target, ...request } of requests) {
    const load = { url: new URL(target, url).href, connections, sampleInt: warmUp * 1000, ...request };
    await autocannon({ ...load, duration: warmUp }); // code that is compiled on first use must not be measured
    const { requests: sent, duration: seconds, latency, non2xx, errors } = await autocannon({ ...load, duration });
    const name = `${request.method ?? "GET"} ${target}`;
    const rate = Math.round(sent.total / seconds);
    console.log(`${name.padEnd(24)} ${rate} requests/s, p50 ${latency.p50} ms, p99 ${latency.p99} ms`);
    if (non2xx + errors > 0) {
      console.error(`${name}: ${non2xx} responses were errors, ${errors} requests got no response`);
      process.exitCode = 1;
    }
  }
} finally {
  server.kill();
  await ended;
}
