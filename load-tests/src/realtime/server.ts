/** WebSockets and server-sent events on tsgi. @module */
import { App, EventSourceResponse, type WebSocket } from "tsgi";
import { serve } from "tsgi/node";
import { announce } from "../http/server-process.js";
import { Feed } from "./feed.js";
import { quietLogger } from "../http/quiet-logger.js";

const feed = new Feed();
const sockets = new Set<WebSocket>();

const app = new App({ title: "Realtime" });
app.get("/health", async () => ({ status: "ok" }));
app.get("/events", async () => new EventSourceResponse(feed.follow()));
app.post("/publish", { statusCode: 204 }, async () => feed.publish());

app.websocket("/echo", async ({ ws }) => {
  await ws.accept();
  for await (const message of ws) await ws.send(message);
});

app.websocket("/broadcast", async ({ ws }) => {
  await ws.accept();
  sockets.add(ws);
  try {
    await ws.send("ready");
    for await (const message of ws) {
      for (const socket of sockets) socket.send(message).catch(() => {}); // its own handler cleans up
    }
  } finally {
    sockets.delete(ws);
  }
});

const running = await serve(app, { port: 0, loop: "libuv", logger: quietLogger });
announce(running.url);
