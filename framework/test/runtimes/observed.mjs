/** Serves an App with traces and metrics of OpenTelemetry, and metrics of Prometheus. Prints the address in one line. */
import { metrics, trace } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { App, HTTPException } from "tsgi";
import { prometheus } from "@tsgi/metrics";
import { serve } from "tsgi/node";
import { openTelemetry } from "@tsgi/otel";

const spans = new InMemorySpanExporter();
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }).register();
const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis: 3_600_000 });
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));

const prom = prometheus();
const silent = () => {};
const logger = { debug: silent, info: silent, warn: silent, error: silent };
const app = new App({ logger, entry: import.meta.url, pool: { size: 1 }, instrumentation: [openTelemetry(), prom] });
app.includeRouter(prom.router());

const current = () => trace.getActiveSpan()?.spanContext() ?? null;
app.get("/items/{id}", async ({ id }) => {
  await new Promise(setImmediate);
  if (id === "missing") throw new HTTPException(404);
  if (id === "broken") throw new Error("broken");
  return current();
});
app.get("/plain", () => current());
app.get("/spans", async () =>
  spans.getFinishedSpans().map((span) => ({
    name: span.name,
    traceId: span.spanContext().traceId,
    spanId: span.spanContext().spanId,
    parent: span.parentSpanContext?.spanId ?? null,
    attributes: span.attributes,
    status: span.status.code,
  })),
);
app.get("/measured", async () => {
  await reader.forceFlush();
  return measured
    .getMetrics()
    .at(-1)
    .scopeMetrics.flatMap(({ metrics: all }) => all)
    .map(({ descriptor, dataPoints }) => ({
      name: descriptor.name,
      points: dataPoints.map(({ attributes, value }) => ({ attributes, count: value.count ?? value })),
    }));
});

if (process.argv[2] === "serve") {
  const { url } = await serve(app, { port: 0, logger });
  process.stdout.write(`${url}\n`);
}
