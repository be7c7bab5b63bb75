import { expect, it } from "@jest/globals";

import { openApp } from "../support.js";

it("serves without a collector", async () => {
  expect(process.env["OTEL_EXPORTER_OTLP_ENDPOINT"]).toBeUndefined();
  await using opened = await openApp();
  await opened.request.get("/health").expect(200);
});
