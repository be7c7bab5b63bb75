import { expect, it } from "@jest/globals";

import { openApp } from "../support.js";

it("shows metrics by route, and only to private networks", async () => {
  await using app = await openApp({ trustedProxies: ["loopback"] });
  await app.request.get("/health").expect(200);
  const { text } = await app.request.get("/metrics").expect(200);
  expect(text).toContain('http_requests_total{method="GET",route="/health",status="2xx"} 1');
  await app.request.get("/metrics").set("X-Forwarded-For", "10.1.2.3").expect(200);
  await app.request.get("/metrics").set("X-Forwarded-For", "203.0.113.7").expect(404);
});
