import assert from "node:assert/strict";
import { it } from "node:test";

import { TestClient } from "tsgi/testing";

import { createApp } from "../src/app.js";

it("says that it is well, with a name for the request and headers for the browser", async () => {
  await using client = await TestClient.open(createApp());
  const response = await client.get("/health").expect(200, { status: "ok" });
  assert.equal(response.get("X-Content-Type-Options"), "nosniff");
  assert.ok(response.get("X-Request-ID"));
});
