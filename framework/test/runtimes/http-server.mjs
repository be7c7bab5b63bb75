/**
 * Serves the application of the HTTP table, and, if the runtime has its own server, with that and `app.fetch` as well.
 * Prints the addresses in one line: of `serve`, and of the runtime's own server.
 */
import { FileResponse, StaticFiles } from "tsgi";
import { serve } from "tsgi/node";
import { createApp } from "./http-app.mjs";

const quiet = () => {};
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const hostname = "127.0.0.1";

const files = `${import.meta.dirname}/files`;

/** The application with its files, which workerd does not have. */
function createWithFiles() {
  const app = createApp(logger);
  app.get("/file", async () => new FileResponse("digits.txt", { root: files }));
  app.mount("/static", new StaticFiles(files));
  return app;
}

/** The address of the runtime's own server; empty on Node, which has none for the platform's requests. */
function serveByFetch() {
  const { fetch } = createWithFiles();
  if ("Bun" in globalThis) return String(Bun.serve({ hostname, port: 0, fetch, maxRequestBodySize: 2 ** 31 }).url);
  if ("Deno" in globalThis)
    return `http://${hostname}:${Deno.serve({ hostname, port: 0, onListen: quiet }, fetch).addr.port}`;
  return "";
}

const { url } = await serve(createWithFiles(), { port: 0, signals: false, logger });
process.stdout.write(`${url} ${serveByFetch()}\n`);
