/** One of the two server processes of a contender. The parent orders to publish, and asks for memory and processor time. */
import { createServer } from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { setTimeout as wait } from "node:timers/promises";

const { CONTENDER, PEERS, REDIS_PORT } = process.env;
const REDIS = `redis://127.0.0.1:${REDIS_PORT}`;
const peer = createRequire(path.join(PEERS, "package.json"));

const importPeer = async (name) => import(pathToFileURL(peer.resolve(name)).href);

/** Subscribes all connections to the topic `news`, which Redis carries to the other process. */
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

  async crossws() {
    const [{ default: nodeAdapter }, { default: sseAdapter }, { redis }, { serve }] = await Promise.all([
      importPeer("crossws/adapters/node"),
      importPeer("crossws/adapters/sse"),
      importPeer("crossws/sync"),
      importPeer("srvx/node"),
    ]);
    const { Redis } = peer("ioredis");
    const open = (subscriber) => {
      subscriber.subscribe("news");
      subscriber.send("subscribed"); // the head of server-sent events waits for the first one
    };
    const sync = (channel) => redis({ client: new Redis(REDIS), channel });
    const sockets = nodeAdapter({ hooks: { open }, sync: sync("sockets") });
    const events = sseAdapter({ hooks: { open }, sync: sync("events") });
    const server = serve({ port: 0, hostname: "127.0.0.1", silent: true, fetch: (request) => events.fetch(request) });
    await server.ready();
    server.node.server.on("upgrade", (request, socket, head) => sockets.handleUpgrade(request, socket, head));
    const publish = async (message) => {
      const text = JSON.stringify(message);
      await Promise.all([sockets.publish("news", text), events.publish("news", text)]);
    };
    return { port: Number(new URL(server.url).port), publish };
  },

  async orpc() {
    const [{ os }, node, ws, { IORedisPublisher }] = await Promise.all([
      importPeer("@orpc/server"),
      importPeer("@orpc/server/node"),
      importPeer("@orpc/server/ws"),
      importPeer("@orpc/experimental-publisher/ioredis"),
    ]);
    const { Redis } = peer("ioredis");
    const { WebSocketServer } = peer("ws");
    const publisher = new IORedisPublisher({ commander: new Redis(REDIS), listener: new Redis(REDIS) });
    const news = os.handler(async function* ({ signal }) {
      yield* publisher.subscribe("news", { signal });
    });
    const [overHTTP, overSocket] = [new node.RPCHandler({ news }), new ws.RPCHandler({ news })];
    const http = createServer((request, response) => overHTTP.handle(request, response, { prefix: "/rpc" }));
    new WebSocketServer({ server: http }).on("connection", (socket) => overSocket.upgrade(socket));
    await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
    return { port: http.address().port, publish: (message) => publisher.publish("news", message) };
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

const { port, publish } = await OPENERS[CONTENDER.split(",", 1)[0]]();
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
