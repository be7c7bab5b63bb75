/** WebSockets and server-sent events on bare `node:http` with `ws`. @module */
import { createServer } from "node:http";
import { announce } from "../http/announce.js";
import { feed, HEAD, toText } from "./feed.js";
import { addWebSockets } from "./sockets.js";

const server = createServer((request, response) => {
  if (request.url === "/events") {
    response.writeHead(200, HEAD);
    request.on(
      "close",
      feed.subscribe((event) => response.write(toText(event))),
    );
  } else if (request.url === "/publish") {
    feed.publish();
    response.writeHead(204).end();
  } else {
    response.writeHead(200, { "content-type": "application/json", "content-length": 15 }).end('{"status":"ok"}');
  }
});
addWebSockets(server);
server.listen(0, "127.0.0.1", () => announce(server.address().port));
