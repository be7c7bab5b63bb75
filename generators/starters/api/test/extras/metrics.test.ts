import { expect, it } from "@jest/globals";
import { TestClient } from "tsgi/testing";

import { app } from "../../src/app.js";

it("shows metrics by route to private networks", async () => {
  await using client = await TestClient.open(app);
  await client.get("/health").expect(200);
  const { text } = await client.get("/metrics").expect(200);
  expect(text).toContain('http_requests_total{method="GET",route="/health",status="2xx"} 1');
});
