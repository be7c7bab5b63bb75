/** The benchmark routes on Express with `cors`, `helmet` and `morgan`, and one span for each request. @module */
import { registerInstrumentations } from "@opentelemetry/instrumentation";
import { ExpressInstrumentation, ExpressLayerType } from "@opentelemetry/instrumentation-express";
import { HttpInstrumentation } from "@opentelemetry/instrumentation-http";
import cors from "cors";
import helmet from "helmet";
import morgan from "morgan";
import { createRequire } from "node:module";
import { announce } from "../http/announce.js";
import { addRoutes, createApp } from "../http/express-routes.js";
import { helmetOptions } from "./helmet-options.js";
import { createId, ORIGIN, sink } from "./parts.js";
import { startTracing } from "./tracing.js";

const ignoreLayersType = [ExpressLayerType.MIDDLEWARE, ExpressLayerType.ROUTER, ExpressLayerType.REQUEST_HANDLER];

startTracing();
registerInstrumentations({
  instrumentations: [new HttpInstrumentation(), new ExpressInstrumentation({ ignoreLayersType })],
});
// Instrumentations see what `require` loads and change it in place, also for those who imported it.
const require = createRequire(import.meta.url);
for (const name of ["node:http", "express"]) require(name);

const app = createApp();
app.use(morgan("combined", { stream: sink }));
app.use((_request, response, next) => {
  response.setHeader("x-request-id", createId());
  next();
});
app.use(helmet(helmetOptions), cors({ origin: [ORIGIN] }));
addRoutes(app);

const server = app.listen(0, "127.0.0.1", () => announce(server.address().port));
