/** An application with plain handlers, which run in a pool of processes. */
import { appendFileSync } from "node:fs";
import { App } from "tsgi";
import { serve } from "tsgi/node";

const { log, ...options } = JSON.parse(process.argv[2] ?? process.env["PLAIN_APP"] ?? "{}");
process.env["PLAIN_APP"] ??= JSON.stringify({ log }); // for the pool's processes, which import this file

const app = new App({ entry: import.meta.url, pool: { size: 2, timeoutMs: 3000 } });
const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

app.get("/fast", async () => ({ ok: true }));
app.get("/hold", () => {
  appendFileSync(log, `${process.pid}\n`);
  pause(1500);
  return { pid: process.pid };
});
app.get("/pid", () => {
  pause(100);
  return { pid: process.pid };
});
app.get("/exit", () => process.exit(3));
app.get("/memory", () => {
  const kept = [];
  for (;;) kept.push(Array.from({ length: 100_000 }, () => kept.length));
});
app.get("/loop", () => {
  for (;;);
});

const server = await serve(app, { port: 0, ...options });
process.stdout.write(`url ${server.url}\n`);
