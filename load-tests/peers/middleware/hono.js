/** The benchmark routes on Hono with its own middleware. @module */
import { serve } from "@hono/node-server";
import { httpInstrumentationMiddleware } from "@hono/otel";
import { Hono } from "hono";
import { cors } from "hono/cors";
import { logger } from "hono/logger";
import { requestId } from "hono/request-id";
import { secureHeaders } from "hono/secure-headers";
import { addRoutes } from "../direct/hono.js";
import { announce } from "../http/announce.js";
import { ORIGIN, sink } from "./parts.js";
import { startTracing } from "./tracing.js";

const security = {
  contentSecurityPolicy: { defaultSrc: ["'self'"] },
  crossOriginResourcePolicy: false,
  originAgentCluster: false,
  strictTransportSecurity: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
};

startTracing();
const app = new Hono();
app.use(httpInstrumentationMiddleware());
app.use(logger((line) => sink.write(`${line}\n`)));
app.use(requestId(), secureHeaders(security), cors({ origin: [ORIGIN] }));
addRoutes(app);

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => announce(port));
