import { expect, it } from "@jest/globals";
import { type ApiOf, createClient } from "@tsgi/client";

import { app } from "../src/app.js";
import type * as routes from "../src/app.js";

const client = createClient<ApiOf<typeof routes>>({ fetch: app.fetch });

it("responds with the item in the requested version, or with an error", async () => {
  const newest = await client.GET("/items/{item_id}", { params: { path: { item_id: 42 } } });
  expect(newest.data).toEqual({ item_id: 42, version: 1 });
  const third = await client.GET("/items/{item_id}", { params: { path: { item_id: 42 }, query: { version: 3 } } });
  expect(third.data).toEqual({ item_id: 42, version: 3 });
  const { error } = await client.GET("/items/{item_id}", { params: { path: { item_id: 1.5 } } });
  expect(error?.detail[0]?.loc).toEqual(["path", "item_id"]);
});
