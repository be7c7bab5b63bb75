import { describe, it } from "@jest/globals";

import { openApp } from "../support.js";

describe("GET /health", () => {
  it("says that the process answers", async () => {
    await using app = await openApp();
    await app.request.get("/health").expect(200, { status: "ok" });
  });
});

describe("GET /ready", () => {
  it("says that the database answers", async () => {
    await using app = await openApp();
    await app.request.get("/ready").expect(200, { status: "ready" });
  });
});
