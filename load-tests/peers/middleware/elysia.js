/** The benchmark routes on Elysia: CORS is its plugin; the rest are hooks, as it has no plugins of its own for it. @module */
import { cors } from "@elysiajs/cors";
import { node } from "@elysiajs/node";
import { createApp } from "../direct/elysia.js";
import { announceOn, freePort } from "../http/elysia-port.js";
import { createId, ORIGIN, sink } from "./parts.js";

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
    .use(cors({ origin: [ORIGIN] }))
    .onRequest(({ set }) => {
      Object.assign(set.headers, SECURITY, { "x-request-id": createId() });
    })
    .onAfterResponse(({ request, set }) => {
      sink.write(`${new Date().toISOString()} ${request.method} ${request.url} ${set.status}\n`);
    });

const port = await freePort();
createApp({ adapter: node() }, addMiddleware).listen({ hostname: "127.0.0.1", port });
await announceOn(port);
