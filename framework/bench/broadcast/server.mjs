/** One of the two server processes of a contender. The parent orders to publish, and asks for memory and processor time. */
import { createServer } from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const { CONTENDER, PEERS, REDIS_PORT } = process.env;
const REDIS = `redis://127.0.0.1:${REDIS_PORT}`;
const peer = createRequire(path.join(PEERS, "package.json"));

const OPENERS = {
  async tsgi() {
    const [{ App }, { serve }, { Broadcast, redisBackplane }] = await Promise.all([
      import("../../core/dist/index.js"),
      import("../../core/dist/node.js"),
      import("../../broadcast/dist/index.js"),
    ]);
    const broadcast = new Broadcast({ backplane: redisBackplane(REDIS) });
    const app = new App({ lifespan: broadcast.lifespan });
    app.get("/events", { stream: "sse" }, async () => broadcast.subscribe("news"));
    app.websocket("/socket", async ({ ws }) => {
      await ws.accept();
      for await (const message of await broadcast.subscribe("news")) await ws.sendJson(message);
    });
    const server = await serve(app, { port: 0, host: "127.0.0.1" });
    return { port: Number(new URL(server.url).port), publish: (message) => broadcast.publish("news", message) };
  },

  async "socket.io"() {
    const { Server } = peer("socket.io");
    const { createAdapter } = peer("@socket.io/redis-adapter");
    const { Redis } = peer("ioredis");
    const http = createServer();
    const publisher = new Redis(REDIS);
    const io = new Server(http, { adapter: createAdapter(publisher, publisher.duplicate()), serveClient: false });
    await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
    return { port: http.address().port, publish: (message) => io.emit("news", message) };
  },

  async "ws by hand"() {
    const { WebSocketServer } = peer("ws");
    const { Redis } = peer("ioredis");
    const http = createServer();
    const sockets = new WebSocketServer({ server: http });
    const [publisher, listener] = [new Redis(REDIS), new Redis(REDIS)];
    await listener.subscribe("news");
    listener.on("message", (_channel, text) => {
      for (const socket of sockets.clients) socket.send(text);
    });
    await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
    return { port: http.address().port, publish: (message) => publisher.publish("news", JSON.stringify(message)) };
  },
};

const { port, publish } = await OPENERS[CONTENDER.startsWith("tsgi") ? "tsgi" : CONTENDER]();
let clock = process.cpuUsage();

const ORDERS = {
  memory: () => {
    globalThis.gc?.();
    return process.memoryUsage().rss;
  },
  "start clock": () => {
    clock = process.cpuUsage();
    return null;
  },
  "stop clock": () => {
    const { user, system } = process.cpuUsage(clock);
    return (user + system) / 1_000;
  },
};

async function publishAll(count, everyMs) {
  for (let number = 0; number < count; number++) {
    await publish({ at: performance.timeOrigin + performance.now(), text: "x".repeat(100) });
    await wait(everyMs);
  }
  process.send("published");
}

process.on("message", (order) => {
  if (typeof order === "string") process.send(ORDERS[order]());
  else void publishAll(order.publish, order.everyMs);
});
process.on("disconnect", () => process.exit());
process.send({ port });
