/** The worker that serves an application of the test. Its module is bundled for workerd. @module */
import { toFetchHandler } from "tsgi/web";
import { createApp, Log } from "./remote-app.mjs";

const log = new Log();
let handler = null;

export default {
  fetch(request, env, context) {
    // Orders come over HTTP: a worker is neither started nor stopped by itself.
    if (request.url.endsWith("/.control")) return Response.json(log.take());
    handler ??= toFetchHandler(createApp(env.HUB), { logger: log, lifespan: "off" });
    log.running++;
    const waitUntil = (settled) => context.waitUntil(settled.finally(() => log.running--));
    return handler(request, env, { waitUntil });
  },
};
