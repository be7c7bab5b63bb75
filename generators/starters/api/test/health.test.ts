import { expect, it } from "@jest/globals";
import { type ApiOf, createClient } from "@tsgi/client";

import { app } from "../src/app.js";
import type * as routes from "../src/routes/health.js";

it("reports its health, with an id for the request and headers for the browser", async () => {
  const client = createClient<ApiOf<typeof routes>>({ fetch: app.fetch });
  const { data, response } = await client.GET("/health");
  expect(data).toEqual({ status: "ok" });
  expect(response.headers.get("X-Content-Type-Options")).toBe("nosniff");
  expect(response.headers.get("X-Request-ID")).not.toBeNull();
  await app.fetch.close();
});
