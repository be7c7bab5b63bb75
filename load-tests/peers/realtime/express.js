/** WebSockets and server-sent events on Express with `ws`. @module */
import { announce } from "../http/announce.js";
import { createApp } from "../http/express-routes.js";
import { feed, HEAD, toText } from "./feed.js";
import { addWebSockets } from "./sockets.js";

const app = createApp();
app.get("/health", (_request, response) => response.json({ status: "ok" }));
app.get("/events", (request, response) => {
  response.writeHead(200, HEAD);
  request.on(
    "close",
    feed.subscribe((event) => response.write(toText(event))),
  );
});
app.post("/publish", (_request, response) => {
  feed.publish();
  response.status(204).end();
});

const server = app.listen(0, "127.0.0.1", () => announce(server.address().port));
addWebSockets(server);
