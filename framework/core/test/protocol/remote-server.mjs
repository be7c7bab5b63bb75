/** Serves applications of the test, which starts and stops them over HTTP. Prints the address for that. @module */
import { serve } from "tsgi/node";
import { toFetchHandler } from "tsgi/web";
import { createApp, Log } from "./remote-app.mjs";

const hostname = "127.0.0.1";
const servers = new Map();

/** Counts the calls that have not settled: the driver logs in the turn in which a call does. */
const counted = (app, log) => async (scope, receive, send) => {
  const count = scope.type === "lifespan" ? 0 : 1; // the lifespan lasts as long as the server
  log.running += count;
  try {
    await app(scope, receive, send);
  } finally {
    setTimeout(() => (log.running -= count));
  }
};

/** Starts the runtime's own server. */
function serveByFetch(handler) {
  if ("Bun" in globalThis) {
    const server = Bun.serve({ hostname, port: 0, fetch: handler, maxRequestBodySize: 2 ** 31, idleTimeout: 0 });
    return { url: String(server.url), stop: () => server.stop() };
  }
  const server = Deno.serve({ hostname, port: 0, onListen: () => {} }, handler);
  return { url: `http://${hostname}:${server.addr.port}`, stop: () => server.shutdown() };
}

const commands = {
  async start({ key, hub, kind }) {
    const log = new Log();
    const app = counted(createApp(`${hub}/${key}`), log);
    if (kind === "serve") {
      const { url, close } = await serve(app, { port: 0, signals: false, logger: log });
      servers.set(key, { log, stop: close });
      return { url };
    }
    const handler = toFetchHandler(app, { logger: log });
    const { url, stop } = serveByFetch(handler);
    servers.set(key, { log, stop: () => handler.close().then(stop) });
    return { url };
  },
  async stop({ key }) {
    await servers.get(key).stop();
    return {};
  },
  turn: async () => ({}),
  log: async ({ key }) => servers.get(key).log.take(),
};

async function readBody(receive) {
  const decoder = new TextDecoder();
  for (let text = ""; ;) {
    const { body, more_body: more } = await receive();
    text += decoder.decode(body, { stream: true });
    if (!more) return text;
  }
}

async function control(scope, receive, send) {
  if (scope.type !== "http") return;
  const { command, ...rest } = JSON.parse(await readBody(receive));
  const text = JSON.stringify(await commands[command](rest));
  await send({ type: "http.response.start", status: 200 });
  await send({ type: "http.response.body", body: new TextEncoder().encode(text) });
}

const quiet = () => {};
const silent = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const { url } = await serve(control, { port: 0, signals: false, logger: silent });
console.log(url);
