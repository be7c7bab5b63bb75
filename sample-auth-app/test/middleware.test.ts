import { describe, expect, it } from "@jest/globals";
import { App } from "tsgi";
import { TestClient } from "tsgi/testing";

import { noStore } from "../src/middleware.js";

describe("no-store", () => {
  it("takes the place of what the application says of caching, on errors as well", async () => {
    const app = new App({ middleware: [noStore] });
    app.get("/", async () => "body");
    await using client = await TestClient.open(app);
    for (const path of ["/", "/nothing"]) {
      expect((await client.get(path)).get("Cache-Control")).toBe("no-store");
    }
  });
});
