/** Bare `node:http`, to compare with. */
import { createServer } from "node:http";

process.on("SIGUSR2", () => globalThis.gc?.());
const server = createServer({ keepAliveTimeout: 65_000 }, (_req, res) => {
  res.writeHead(200, { "content-type": "application/json", "content-length": 11 });
  res.end('{"ok":true}');
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`url http://127.0.0.1:${server.address().port}\n`));
