import { App } from "tsgi";
import { health as readiness } from "tsgi/health";
import { requestId, securityHeaders } from "tsgi/middleware";
import { mcp } from "@tsgi/mcp"; // with mcp
import { prometheus } from "@tsgi/metrics"; // with metrics
import { startTracing } from "@tsgi/otel"; // with tracing

import { health } from "./routes/health.js";
import { items } from "./routes/items.js";

const metrics = prometheus(); // with metrics
const tracing = await startTracing({ steps: true }); // with tracing

/** The application. It opens the database when it is served. */
export const app = new App({
  title: "{{title}}",
  version: "0.1.0",
  instrumentation: [...(tracing ? [tracing.instrumentation] : []), metrics], // with tracing metrics
  // without tracing: instrumentation: metrics, // with metrics
  // without metrics: instrumentation: tracing?.instrumentation ?? [], // with tracing
});
app.includeRouter(items);
app.includeRouter(health);
app.includeRouter(readiness());
app.includeRouter(mcp(app)); // with mcp
app.includeRouter(metrics.router("/metrics", { privateOnly: true })); // with metrics
app.onShutdown(async () => tracing?.shutdown()); // with tracing
app.addMiddleware(securityHeaders());
app.addMiddleware(requestId());
