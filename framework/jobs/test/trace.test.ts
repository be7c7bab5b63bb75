import { context, trace } from "@opentelemetry/api";
import { expect, it } from "@jest/globals";
import { openTelemetry } from "@tsgi/otel";
import { App } from "tsgi";
import { logContext } from "tsgi/middleware";
import { TestClient } from "tsgi/testing";
import { Telemetry } from "../../otel/test/_telemetry.js";
import { Jobs } from "../src/index.js";
import { createLog } from "./_database.js";

const TRACE = "0af7651916cd43dd8448eb211c80319c";

it("continues the trace of the request that enqueued a job", async () => {
  const telemetry = new Telemetry();
  telemetry.tracerProvider.register();
  const logger = createLog();
  const jobs = new Jobs({ inline: true, logger });
  const log = logContext();
  const seen: unknown[] = [];
  const job = jobs.define("job", {}, async () => {
    seen.push(trace.getSpanContext(context.active())?.traceId, log.fields()["traceId"]);
  });
  const app = new App({ instrumentation: [openTelemetry(), log], lifespan: jobs.lifespan, logger });
  app.post("/", async () => job.enqueue());
  await using client = await TestClient.open(app);
  await client.post("/").set("traceparent", `00-${TRACE}-b7ad6b7169203331-01`);
  await jobs.drain();
  expect(seen).toEqual([TRACE, TRACE]);
});
