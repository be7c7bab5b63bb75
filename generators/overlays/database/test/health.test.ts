import { expect, it } from "@jest/globals";
import { type ApiOf, createClient } from "@tsgi/client";

import { app } from "../src/app.js";
import type * as routes from "../src/routes/health.js";
import { openApp } from "./support.js";

it("reports its health, with an id for the request and headers for the browser", async () => {
  await using _opened = await openApp();
  const client = createClient<ApiOf<typeof routes>>({ fetch: app.fetch });
  const { data, response } = await client.GET("/health");
  expect(data).toEqual({ status: "ok" });
  expect(response.headers.get("X-Content-Type-Options")).toBe("nosniff");
  expect(response.headers.get("X-Request-ID")).not.toBeNull();
});

it("is ready if the database responds", async () => {
  await using opened = await openApp();
  const { body } = await opened.request.get("/ready").expect(200);
  expect(body).toMatchObject({ status: "ok" });
});
