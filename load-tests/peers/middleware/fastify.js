/** The benchmark routes on Fastify with its plugins and its logger, and one span for each request. @module */
import cors from "@fastify/cors";
import helmet from "@fastify/helmet";
import { FastifyOtelInstrumentation } from "@fastify/otel";
import fastify, { LogController } from "fastify";
import { addRoutes, ajv } from "../direct/fastify.js";
import { announce } from "../http/announce.js";
import { helmetOptions } from "./helmet-options.js";
import { createId, ORIGIN, sink } from "./parts.js";
import { startTracing } from "./tracing.js";

/** One line for each request as the others write, and not a second one for its start. */
class OneLine extends LogController {
  incomingRequest() {}
  requestCompleted(_error, request, reply) {
    reply.log.info({ req: request, res: reply, responseTime: reply.elapsedTime }, "request completed");
  }
}

startTracing();
const tracing = new FastifyOtelInstrumentation({ instrumentHooks: false, instrumentHandler: false });

const app = fastify({ ajv, logger: { stream: sink }, logController: new OneLine(), genReqId: createId });
await app.register(tracing.plugin());
await app.register(cors, { origin: [ORIGIN] });
await app.register(helmet, helmetOptions);
app.addHook("onSend", (request, reply, _payload, done) => {
  reply.header("x-request-id", request.id);
  done();
});
addRoutes(app);

await app.listen({ host: "127.0.0.1", port: 0 });
announce(app.server.address().port);
