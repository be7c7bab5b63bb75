import { afterAll, expect, it } from "@jest/globals";
import { context, metrics, propagation, trace } from "@opentelemetry/api";
import { App } from "tsgi";
import { openTelemetry } from "../src/index.js";
import { call } from "../../test/support/call.js";
import { Telemetry } from "./_telemetry.js";

afterAll(() => {
  for (const api of [trace, context, propagation, metrics]) api.disable();
});

it("observes no requests until the program sets a provider, even after the App is created", async () => {
  const instrumentation = openTelemetry();
  const app = new App({ instrumentation });
  app.get("/", async () => trace.getActiveSpan()?.isRecording() ?? false);
  expect(instrumentation.start({ type: "http", method: "GET", path: "/" })).toBeUndefined();
  expect((await call(app, "GET", "/")).json).toBe(false);
  const telemetry = new Telemetry();
  telemetry.tracerProvider.register();
  metrics.setGlobalMeterProvider(telemetry.meterProvider);
  expect((await call(app, "GET", "/")).json).toBe(true);
  expect(telemetry.takeSpan().name).toBe("GET /");
  expect(await telemetry.histograms()).toHaveLength(1);
});

it("traces with a given provider without a global one: the parent is read from traceparent", async () => {
  for (const api of [trace, context, propagation, metrics]) api.disable();
  const telemetry = new Telemetry();
  const app = new App({ instrumentation: openTelemetry({ tracerProvider: telemetry.tracerProvider }) });
  const parents = [];
  for (const traceparent of [
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-later",
    "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
    "not one",
  ]) {
    await call(app, "GET", "/", {
      headers: [
        ["traceparent", traceparent],
        ["tracestate", "a=1"],
      ],
    });
    const { parentSpanContext } = telemetry.takeSpan();
    parents.push(parentSpanContext && [parentSpanContext.spanId, parentSpanContext.traceState?.serialize()]);
  }
  const parent = ["00f067aa0ba902b7", "a=1"];
  expect(parents).toEqual([parent, parent, undefined, undefined, undefined, undefined]);
});
