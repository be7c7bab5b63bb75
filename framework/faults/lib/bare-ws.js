/** Bare `ws`, to compare with. */
import { createServer } from "node:http";
import { WebSocketServer } from "ws";

process.on("SIGUSR2", () => globalThis.gc?.());
const server = createServer();
new WebSocketServer({ server, perMessageDeflate: false }).on("connection", (socket) => {
  socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`url http://127.0.0.1:${server.address().port}\n`));
