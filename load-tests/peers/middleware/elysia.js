/** The benchmark routes on Elysia: CORS and tracing are its plugins; the rest are hooks, as it has no plugins for them. @module */
import { cors } from "@elysiajs/cors";
import { node } from "@elysiajs/node";
import { opentelemetry } from "@elysiajs/opentelemetry";
import { createApp } from "../direct/elysia.js";
import { announceOn, freePort } from "../http/elysia-port.js";
import { createId, ORIGIN, sink } from "./parts.js";
import { startTracing } from "./tracing.js";

/** Its tracing calls what Node has from 22 on. */
Promise.withResolvers ??= () => {
  let settle;
  const promise = new Promise((resolve, reject) => (settle = { resolve, reject }));
  return { promise, ...settle };
};

const SECURITY = {
  "content-security-policy": "default-src 'self'",
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "strict-transport-security": "max-age=31536000; includeSubDomains",
  "x-content-type-options": "nosniff",
  "x-frame-options": "SAMEORIGIN",
};

const addMiddleware = (app) =>
  app
    .use(opentelemetry())
    .use(cors({ origin: [ORIGIN] }))
    .onRequest(({ set }) => {
      Object.assign(set.headers, SECURITY, { "x-request-id": createId() });
    })
    .onAfterResponse(({ request, set }) => {
      sink.write(`${new Date().toISOString()} ${request.method} ${request.url} ${set.status}\n`);
    });

startTracing();
const port = await freePort();
createApp({ adapter: node() }, addMiddleware).listen({ hostname: "127.0.0.1", port });
await announceOn(port);
