import { expect, it } from "@jest/globals";

import { openApp } from "../support.js";

it("shows metrics by route to private networks", async () => {
  await using opened = await openApp();
  await opened.request.get("/health").expect(200);
  const { text } = await opened.request.get("/metrics").expect(200);
  expect(text).toContain('http_requests_total{method="GET",route="/health",status="2xx"} 1');
});
