/**
 * Checks the conformance of `serve`, and of a handler of the platform's requests behind the platform's own server, on
 * the runtime that runs it. Prints the results as JSON.
 */
import { checkServer, overFetch, overSocket } from "@tsgi/conformance";
import { serve } from "tsgi/node";
import { toFetchHandler } from "tsgi/web";

const quiet = () => {};
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const { Bun, Deno } = globalThis;

async function startServe(app) {
  const server = await serve(app, { port: 0, signals: false, logger });
  return overSocket(server.url, () => server.close());
}

/** The platform's server, as its documentation shows it. */
function listen(handler) {
  if (Bun) {
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: handler });
    return { port: server.port, stop: () => server.stop(true) };
  }
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: quiet }, handler);
  return { port: server.addr.port, stop: () => server.shutdown() };
}

async function startPlatform(app) {
  const handler = toFetchHandler(app, { logger });
  const { port, stop } = listen(handler);
  return overSocket(`http://127.0.0.1:${port}`, async () => {
    await handler.close();
    await stop();
  });
}

async function startFetch(app) {
  const handler = toFetchHandler(app, { logger });
  return overFetch(handler, () => handler.close());
}

const version = Bun?.version ?? Deno?.version.deno ?? process.versions.node;
const runtime = `${Bun ? "Bun" : Deno ? "Deno" : "Node.js"} ${version}`;
const bridge = {
  websocket: "`fetch` has no WebSockets",
  "raw-headers": "`Headers` of the platform joins repeated ones",
};

const subjects = [[`serve, ${runtime}`, startServe, {}]];
if (Bun || Deno) subjects.push([`${Bun ? "Bun.serve" : "Deno.serve"}, ${version}`, startPlatform, bridge]);
else subjects.push([`toFetchHandler, ${runtime}`, startFetch, bridge]);

const columns = [];
for (const [name, start, lacks] of subjects) {
  const results = await checkServer(start, lacks);
  columns.push({
    name,
    results: results.map(({ statement: { id }, passed, notApplicable }) => ({
      statement: { id },
      passed,
      notApplicable,
    })),
  });
}
process.stdout.write(JSON.stringify(columns));
process.exit();
