import { describe, expect, it } from "@jest/globals";
import { type ApiOf, createClient } from "@tsgi/client";

import { app } from "../src/app.js";
import type * as routes from "../src/routes/items.js";
import { openApp } from "./support.js";

const client = createClient<ApiOf<typeof routes>>({ fetch: app.fetch });
const pen = { name: "Pen", price: 1.5 };
const withId = (item_id: number) => ({ params: { path: { item_id } } });

/** Adds an item. @returns Its id. */
async function addPen(): Promise<number> {
  const { data } = await client.POST("/items", { body: pen });
  return data?.id ?? 0;
}

describe("/items", () => {
  it("lists the items, a page at a time, with the total", async () => {
    await using _opened = await openApp();
    expect((await client.GET("/items")).data).toEqual({ items: [], total: 0, limit: 20, offset: 0 });
    const { response, data: added } = await client.POST("/items", { body: pen });
    expect([response.status, response.headers.get("Location")]).toEqual([201, `/items/${added?.id}`]);
    const { data: lamp } = await client.POST("/items", { body: { name: "Lamp", price: 30 } });
    const { data } = await client.GET("/items", { params: { query: { limit: 1, offset: 1 } } });
    expect(data).toEqual({ items: [{ id: lamp?.id, name: "Lamp", price: 30 }], total: 2, limit: 1, offset: 1 });
  });

  it("returns one item, or 404", async () => {
    await using _opened = await openApp();
    const id = await addPen();
    expect(await client.GET("/items/{item_id}", withId(id))).toMatchObject({ data: { id, ...pen } });
    const { error, response } = await client.GET("/items/{item_id}", withId(id + 1));
    expect([response.status, error]).toEqual([404, { detail: "Not Found" }]);
  });

  it("removes an item once", async () => {
    await using _opened = await openApp();
    const id = await addPen();
    expect(await client.DELETE("/items/{item_id}", withId(id))).toMatchObject({ response: { status: 204 } });
    expect(await client.DELETE("/items/{item_id}", withId(id))).toMatchObject({ response: { status: 404 } });
  });

  // Bodies of the right types: another type does not compile here.
  const wrong = [
    { name: "", price: 1 },
    { name: "Pen", price: -1 },
  ];
  for (const body of wrong) {
    it(`rejects ${JSON.stringify(body)}`, async () => {
      await using opened = await openApp();
      expect(await client.POST("/items", { body })).toMatchObject({ response: { status: 422 } });
      expect(await opened.db.item.count()).toBe(0);
    });
  }
});
