/** WebSockets on Fastify with its plugin; server-sent events on the response that it gives out of hand. @module */
import websocket from "@fastify/websocket";
import fastify from "fastify";
import { announce } from "../http/announce.js";
import { feed, HEAD, toText } from "./feed.js";

const app = fastify();
await app.register(websocket);

app.get("/health", async () => ({ status: "ok" }));
app.get("/events", (request, reply) => {
  reply.hijack();
  reply.raw.writeHead(200, HEAD);
  request.raw.on(
    "close",
    feed.subscribe((event) => reply.raw.write(toText(event))),
  );
});
app.post("/publish", (_request, reply) => {
  feed.publish();
  reply.code(204).send();
});

app.get("/echo", { websocket: true }, (socket) => {
  socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
});

const sockets = new Set();
app.get("/broadcast", { websocket: true }, (socket) => {
  sockets.add(socket);
  socket.on("close", () => sockets.delete(socket));
  socket.on("message", (data, isBinary) => {
    for (const client of sockets) {
      if (client.readyState === 1) client.send(data, { binary: isBinary });
    }
  });
  socket.send("ready");
});

await app.listen({ host: "127.0.0.1", port: 0 });
announce(app.server.address().port);
