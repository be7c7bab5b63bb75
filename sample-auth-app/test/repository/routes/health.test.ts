import { describe, it } from "@jest/globals";

import { openApp } from "../support.js";

describe("GET /health and GET /ready", () => {
  it("report that the process responds, and that the database does", async () => {
    await using app = await openApp();
    await app.request.get("/health").expect(200, { status: "ok" });
    await app.request.get("/ready").expect(200, { status: "ok", checks: { openTestDatabase: "ok" } });
  });
});
