/** The benchmark application with the middleware of tsgi. @module */
import { accessLog, cors, requestId, securityHeaders } from "tsgi/middleware";
import { serve } from "tsgi/node";
import { openTelemetry } from "tsgi/otel";
import { createApp } from "../../../load-tests/dist/app.js";
import { announce } from "../http/announce.js";
import { ORIGIN, sink } from "./parts.js";
import { startTracing } from "./tracing.js";

startTracing();
const app = createApp({
  instrumentation: [openTelemetry(), accessLog({ write: (line) => sink.write(`${line}\n`) })],
  middleware: [cors({ allowOrigins: [ORIGIN] }), securityHeaders(), requestId()],
});

const quiet = { debug() {}, info() {}, warn: console.warn, error: console.error };
const { url } = await serve(app, { port: 0, loop: "libuv", logger: quiet });
announce(new URL(url).port);
