/** The two WebSockets with `ws` beside a server, as its documentation shows for several paths on one server. @module */
import { WebSocket, WebSocketServer } from "ws";

const echo = new WebSocketServer({ noServer: true });
echo.on("connection", (socket) => {
  socket.on("error", console.error);
  socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
});

const broadcast = new WebSocketServer({ noServer: true });
broadcast.on("connection", (socket) => {
  socket.on("error", console.error);
  socket.on("message", (data, isBinary) => {
    for (const client of broadcast.clients) {
      if (client.readyState === WebSocket.OPEN) client.send(data, { binary: isBinary });
    }
  });
  socket.send("ready");
});

const servers = { "/echo": echo, "/broadcast": broadcast };

export function addWebSockets(server) {
  server.on("upgrade", (request, socket, head) => {
    const target = servers[request.url];
    if (target === undefined) socket.destroy();
    else target.handleUpgrade(request, socket, head, (client) => target.emit("connection", client, request));
  });
}
