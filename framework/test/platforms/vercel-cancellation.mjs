/**
 * Runs a function as Vercel documents it for `supportsCancellation`: `fetch` of its default export gets a `Request`, whose
 * signal is aborted if the client disconnects. Usage: node vercel-cancellation.mjs ENTRY
 */
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { pathToFileURL } from "node:url";

const { default: entry } = await import(pathToFileURL(process.argv[2]).href);

async function serve(req, res) {
  const gone = new AbortController();
  res.once("close", () => gone.abort());
  const hasBody = req.method !== "GET" && req.method !== "HEAD";
  req.headers["x-real-ip"] = req.socket.remoteAddress; // Vercel sets it, so a client cannot
  const request = new Request(`https://${req.headers.host}${req.url}`, {
    method: req.method,
    headers: Object.entries(req.headers).map(([name, value]) => [name, String(value)]),
    signal: gone.signal,
    ...(hasBody && { body: Readable.toWeb(req), duplex: "half" }),
  });
  const response = await entry.fetch(request);
  res.statusCode = response.status;
  for (const [name, value] of response.headers) res.appendHeader(name, value);
  res.flushHeaders();
  if (response.body === null) res.end();
  else await pipeline(Readable.fromWeb(response.body), res);
}

const server = createServer((req, res) => void serve(req, res).catch(() => res.destroy()));
server.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${server.address().port}\n`));
