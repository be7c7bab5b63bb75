/**
 * Serves applications as `tsgi run` does, one at a time: starts the module of each message and sends its address, and
 * stops it at a message without a module.
 */
import process from "node:process";
import { serve } from "tsgi/node";
import { setEntry } from "tsgi/internals";

let server = null;

async function start(module) {
  setEntry(new URL(module));
  const { app, default: fallback = app } = await import(module);
  server = await serve(app ?? fallback, { port: 0, signals: false });
  return server.url;
}

async function stop() {
  await server?.close();
  server = null;
}

process.on("message", ({ module }) => {
  (module === null ? stop() : start(module)).then(
    (address) => process.send({ address }),
    (error) => process.send({ error: String(error.stack) }),
  );
});
