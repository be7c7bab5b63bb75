// A server with a broadcast and a stream log in a Redis. Writes the lines to stdout that the injections wait for.
import { App, Header, t } from "tsgi";
import { serve } from "tsgi/node";
import { Broadcast, redisBackplane, StreamLog } from "@tsgi/broadcast";

const { redis } = JSON.parse(process.argv[2]);
const say = (text) => process.stdout.write(`${text}\n`);
process.on("SIGUSR2", () => globalThis.gc?.());

const broadcast = new Broadcast({ backplane: redisBackplane(redis) });
const log = new StreamLog({ redis });
const quiet = { debug() {}, info() {}, warn() {}, error: ({ err }) => say(`error ${err?.name}`) };
const app = new App({ lifespan: broadcast.lifespan, logger: quiet });
app.onShutdown(() => log.close());

const subscribe = async () => {
  const messages = await broadcast.subscribe("news", { onGap: () => say("gap") });
  say("subscribed");
  return messages;
};
app.get("/events", { stream: "sse" }, subscribe);
app.websocket("/socket", async ({ ws }) => {
  await ws.accept();
  for await (const message of await subscribe()) await ws.sendJson(message);
});
const News = t.Object({ number: t.Integer(), text: t.String() });
app.post("/news", { params: { news: News }, statusCode: 204 }, async ({ news }) => broadcast.publish("news", news));

const params = { owner: Header() };
app.put("/streams/{id}", { params, statusCode: 202 }, async ({ id, owner }) => {
  const produce = async function* ({ signal }) {
    signal.addEventListener("abort", () => say(`aborted ${id} at ${Date.now()}`));
    for (let number = 1; !signal.aborted; number++) {
      yield number;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await log.start(id, produce, { owner });
});
app.get("/streams/{id}", { params, stream: "sse" }, async ({ id, owner }) => log.read(id, { owner }));
app.delete("/streams/{id}", { params }, async ({ id, owner }) => log.stop(id, { owner }));
app.get("/streams/{id}/status", { params }, async ({ id, owner }) => log.status(id, { owner }));

const server = await serve(app, { port: 0, host: "127.0.0.1", timeouts: { requestMs: 2_000 } });
say(`url ${server.url}`);
