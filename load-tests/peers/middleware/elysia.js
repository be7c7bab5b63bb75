/** The benchmark routes on Elysia: CORS and tracing are its plugins; the rest are hooks, as it has no plugins for them. @module */
import { cors } from "@elysiajs/cors";
import { node } from "@elysiajs/node";
import { opentelemetry } from "@elysiajs/opentelemetry";
import { createApp } from "../direct/elysia.js";
import { announceOn, freePort } from "../http/elysia-port.js";
import { createId, ORIGIN, SECURITY_HEADERS, sink } from "./parts.js";
import { startTracing } from "./tracing.js";

/** Its tracing calls what Node has from 22 on. */
Promise.withResolvers ??= () => {
  let settle;
  const promise = new Promise((resolve, reject) => (settle = { resolve, reject }));
  return { promise, ...settle };
};

/** By default it sends them with every answer; the plugins of the others send them to a preflight request alone. */
const PREFLIGHT = { methods: false, allowedHeaders: false, exposeHeaders: false, credentials: false };

const addMiddleware = (app) =>
  app
    .use(opentelemetry())
    .use(cors({ origin: [ORIGIN], ...PREFLIGHT }))
    .onRequest(({ set }) => {
      Object.assign(set.headers, SECURITY_HEADERS, { "x-request-id": createId() });
    })
    .onAfterResponse(({ request, set }) => {
      sink.write(`${new Date().toISOString()} ${request.method} ${request.url} ${set.status}\n`);
    });

startTracing();
const port = await freePort();
createApp({ adapter: node() }, addMiddleware).listen({ hostname: "127.0.0.1", port });
await announceOn(port);
