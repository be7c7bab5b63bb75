/** WebSockets and server-sent events on Elysia with its adapter for Node. @module */
import { node } from "@elysiajs/node";
import { Elysia, sse } from "elysia";
import { announceOn, freePort } from "../http/elysia-port.js";
import { feed } from "./feed.js";

const port = await freePort();
new Elysia({ adapter: node() })
  .get("/health", () => ({ status: "ok" }))
  .get("/events", async function* () {
    for await (const event of feed.follow()) yield sse(event);
  })
  .post("/publish", ({ status }) => {
    feed.publish();
    return status(204);
  })
  .ws("/echo", {
    message: (socket, message) => void socket.send(message),
  })
  .ws("/broadcast", {
    open(socket) {
      socket.subscribe("all");
      socket.send("ready");
    },
    message(socket, message) {
      socket.publish("all", message);
      socket.send(message); // a topic leaves its sender out
    },
  })
  .listen({ hostname: "127.0.0.1", port });
await announceOn(port);
