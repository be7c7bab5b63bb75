/** WebSockets and server-sent events on Hono's server for Node, with its own helpers. @module */
import { serve, upgradeWebSocket } from "@hono/node-server";
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import { WebSocketServer } from "ws";
import { announce } from "../http/announce.js";
import { feed } from "./feed.js";

const app = new Hono();
app.get("/health", (c) => c.json({ status: "ok" }));
app.get("/events", (c) =>
  streamSSE(c, async (stream) => {
    const unsubscribe = feed.subscribe((event) => void stream.writeSSE(event));
    await new Promise((resolve) => stream.onAbort(resolve));
    unsubscribe();
  }),
);
app.post("/publish", (c) => {
  feed.publish();
  return c.body(null, 204);
});

app.get(
  "/echo",
  upgradeWebSocket(() => ({ onMessage: ({ data }, socket) => socket.send(data) })),
);

const sockets = new Set();
app.get(
  "/broadcast",
  upgradeWebSocket(() => ({
    onOpen(_event, socket) {
      sockets.add(socket);
      socket.send("ready");
    },
    onMessage({ data }) {
      for (const client of sockets) client.send(data);
    },
    onClose(_event, socket) {
      sockets.delete(socket);
    },
  })),
);

const websocket = { server: new WebSocketServer({ noServer: true }) };
serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0, websocket }, ({ port }) => announce(port));
