/** Runs a function by Vercel's handler for bundled functions, on Node's server. Usage: node vercel-handler.mjs HANDLER PATH */
import { createServer } from "node:http";
import { createRequire } from "node:module";

const [, , handler, matched] = process.argv;
const handle = createRequire(import.meta.url)(handler);

/** Vercel's routes set the headers, so a client cannot. */
const server = createServer((req, res) => {
  req.headers["x-matched-path"] = matched;
  req.headers["x-real-ip"] = req.socket.remoteAddress;
  void handle(req, res);
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${server.address().port}\n`));
