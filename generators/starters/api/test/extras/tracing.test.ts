import { expect, it } from "@jest/globals";
import { TestClient } from "tsgi/testing";

import { app } from "../../src/app.js";

it("serves without a collector", async () => {
  expect(process.env["OTEL_EXPORTER_OTLP_ENDPOINT"]).toBeUndefined();
  await using client = await TestClient.open(app);
  await client.get("/health").expect(200);
});
