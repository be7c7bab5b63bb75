/** A separate server whose subscribers a test floods. It has to respond to `GET /health` meanwhile. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { App } from "tsgi";
import { serve } from "tsgi/node";
import { Deferred } from "tsgi/internals";
import { Broadcast, redisBackplane } from "@tsgi/broadcast";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const broadcast = new Broadcast<{ ready: never; flood: { number: number; text: string } }>({
  backplane: redisBackplane(process.argv[2] ?? ""),
});
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const app = new App({ lifespan: broadcast.lifespan, logger: quiet });
const over = new Deferred<void>();
const seen = { received: 0, gaps: 0, errors: [] as string[] };

/** Counts the messages as fast as they arrive. */
async function count(): Promise<void> {
  const messages = await broadcast.subscribe("flood", { onGap: () => seen.gaps++ });
  for await (const _ of messages) seen.received++;
}

app.onStartup(async () => {
  await broadcast.subscribe("ready"); // the connection is made
  count().catch((error: Error) => seen.errors.push(error.name));
});
app.get("/health", async () => ({ ok: true }));
app.get("/seen", async () => {
  collectGarbage();
  return { ...seen, heapBytes: process.memoryUsage().heapUsed };
});
/** A subscriber that reads its first message after the flood. */
app.get("/slow", async () => {
  const messages = await broadcast.subscribe("flood");
  process.send?.("subscribed");
  await over.promise;
  return messages.next().catch((error: Error) => error.name);
});
app.post("/over", async () => over.resolve());
/** Subscribers whose clients do not read. */
app.get("/events", { stream: "sse" }, async () => {
  const messages = await broadcast.subscribe("flood");
  process.send?.("subscribed");
  return messages;
});
app.websocket("/socket", async ({ ws }) => {
  await ws.accept();
  const messages = await broadcast.subscribe("flood");
  process.send?.("subscribed");
  try {
    for await (const message of messages) await ws.sendJson(message);
  } catch (error) {
    process.send?.((error as Error).name);
    throw error;
  }
});

process.send?.((await serve(app, { port: 0, host: "127.0.0.1" })).url);
