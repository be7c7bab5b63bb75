import { expect, it } from "@jest/globals";

import { tracing } from "../../src/extras/tracing/index.js";
import { openApp } from "../support.js";

it("is off without a collector, and the log has the trace of the caller", async () => {
  expect(tracing.instrumentation).toEqual([]);
  await using app = await openApp();
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  await app.request.get("/health").set("traceparent", `00-${traceId}-00f067aa0ba902b7-01`).expect(200);
  expect(JSON.parse(app.accesses.at(-1) ?? "")).toMatchObject({ route: "/health", traceId });
});
