/**
 * Serves the application of the HTTP table, and, if the runtime has its own server, with that and `app.fetch` as well.
 * Prints the addresses in one line: of `serve`, and of the runtime's own server.
 */
import { serve } from "tsgi/node";
import { createApp } from "./http-app.mjs";

const quiet = () => {};
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const hostname = "127.0.0.1";

/** The address of the runtime's own server; empty on Node, which has none for the platform's requests. */
function serveByFetch() {
  const { fetch } = createApp(logger);
  if ("Bun" in globalThis) return String(Bun.serve({ hostname, port: 0, fetch, maxRequestBodySize: 2 ** 31 }).url);
  if ("Deno" in globalThis)
    return `http://${hostname}:${Deno.serve({ hostname, port: 0, onListen: quiet }, fetch).addr.port}`;
  return "";
}

const { url } = await serve(createApp(logger), { port: 0, signals: false, logger });
process.stdout.write(`${url} ${serveByFetch()}\n`);
