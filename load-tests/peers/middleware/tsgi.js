/** The benchmark application with the middleware of tsgi. @module */
import { accessLog, cors, requestId, securityHeaders } from "tsgi/middleware";
import { serve } from "tsgi/node";
import { openTelemetry } from "@tsgi/otel";
import { createApp } from "../../../load-tests/dist/app.js";
import { quietLogger } from "../../../load-tests/dist/http/quiet-logger.js";
import { announce } from "../http/announce.js";
import { ORIGIN, SECURITY_HEADERS, sink } from "./parts.js";
import { startTracing } from "./tracing.js";

const security = {
  contentSecurityPolicy: SECURITY_HEADERS["content-security-policy"],
  crossOriginOpenerPolicy: SECURITY_HEADERS["cross-origin-opener-policy"],
  referrerPolicy: SECURITY_HEADERS["referrer-policy"],
  frameOptions: SECURITY_HEADERS["x-frame-options"],
};

startTracing();
const app = createApp({
  instrumentation: [openTelemetry(), accessLog({ write: (line) => sink.write(`${line}\n`) })],
  middleware: [cors({ allowOrigins: [ORIGIN] }), securityHeaders(security), requestId()],
});

const { url } = await serve(app, { port: 0, loop: "libuv", logger: quietLogger });
announce(new URL(url).port);
