import { expect, it } from "@jest/globals";

import { TestClient } from "tsgi/testing";

import { createApp } from "../src/app.js";

it("says that it is well, with a name for the request and headers for the browser", async () => {
  await using client = await TestClient.open(createApp());
  const response = await client.get("/health").expect(200, { status: "ok" });
  expect(response.get("X-Content-Type-Options")).toBe("nosniff");
  expect(response.get("X-Request-ID")).toBeDefined();
});
