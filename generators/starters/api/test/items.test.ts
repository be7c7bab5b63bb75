import { afterEach, describe, expect, it } from "@jest/globals";
import { type ApiOf, createClient } from "@tsgi/client";

import { app } from "../src/app.js";
import type * as routes from "../src/routes/items.js";

const client = createClient<ApiOf<typeof routes>>({ fetch: app.fetch });
const pen = { name: "Pen", price: 1.5 };
const withId = (item_id: number) => ({ params: { path: { item_id } } });

// Ends the lifespan. The next request starts it again, with an empty store.
afterEach(() => app.fetch.close());

describe("/items", () => {
  it("lists the added items, a page at a time", async () => {
    expect(await client.GET("/items")).toMatchObject({ data: [] });
    const { response } = await client.POST("/items", { body: pen });
    expect([response.status, response.headers.get("Location")]).toEqual([201, "/items/1"]);
    await client.POST("/items", { body: { name: "Lamp", price: 30 } });
    const { data } = await client.GET("/items", { params: { query: { limit: 1, offset: 1 } } });
    expect(data).toEqual([{ id: 2, name: "Lamp", price: 30 }]);
  });

  it("responds with one item, or 404", async () => {
    await client.POST("/items", { body: pen });
    expect(await client.GET("/items/{item_id}", withId(1))).toMatchObject({ data: { id: 1, ...pen } });
    const { error, response } = await client.GET("/items/{item_id}", withId(2));
    expect([response.status, error]).toEqual([404, { detail: "Not Found" }]);
  });

  it("removes an item once", async () => {
    await client.POST("/items", { body: pen });
    expect(await client.DELETE("/items/{item_id}", withId(1))).toMatchObject({ response: { status: 204 } });
    expect(await client.DELETE("/items/{item_id}", withId(1))).toMatchObject({ response: { status: 404 } });
  });

  // Bodies of the right types: another type does not compile here.
  const wrong = [
    { name: "", price: 1 },
    { name: "Pen", price: -1 },
  ];
  for (const body of wrong) {
    it(`rejects ${JSON.stringify(body)}`, async () => {
      expect(await client.POST("/items", { body })).toMatchObject({ response: { status: 422 } });
      expect(await client.GET("/items")).toMatchObject({ data: [] });
    });
  }
});
