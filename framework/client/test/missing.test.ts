import { describe, expect, it, jest } from "@jest/globals";
import { type ApiOf, createClient } from "../src/index.js";
import type { Routed, RouteTypes } from "tsgi";

describe("a client without openapi-fetch", () => {
  it("fails at its first call, with the command that installs it", async () => {
    jest.unstable_mockModule("openapi-fetch", () => {
      throw Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
    });
    const client = createClient<ApiOf<{ ping: Routed<"GET", "/", RouteTypes> }>>({ baseUrl: "http://127.0.0.1:1" });
    await expect(client.GET("/")).rejects.toMatchObject({
      name: "ConfigurationError",
      code: "TSGI_MISSING_OPENAPI_FETCH",
      message: expect.stringContaining("npm install openapi-fetch"),
      cause: expect.anything(),
    });
  });
});
