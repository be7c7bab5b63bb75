import { it } from "@jest/globals";

import { TestClient } from "tsgi/testing";

import { app } from "../src/app.js";

it("answers with the item in the version that is asked for, or says what is wrong", async () => {
  await using client = await TestClient.open(app);
  await client.get("/items/42").expect(200, { item_id: 42, version: 1 });
  await client.get("/items/42?version=3").expect(200, { item_id: 42, version: 3 });
  await client.get("/items/first").expect(422, /"loc":\["path","item_id"\]/);
});
