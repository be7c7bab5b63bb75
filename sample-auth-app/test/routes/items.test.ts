import { describe, expect, it } from "@jest/globals";

import { openApp } from "../support.js";

/** Two users, of whom each has items. */
async function openShop() {
  const app = await openApp();
  await app.register("alice");
  await app.register("bob");
  for (const [name, username] of [
    ["pen", "alice"],
    ["lamp", "bob"],
    ["book", "alice"],
  ] as const) {
    await app.db.item.create({ data: { name, owner: { connect: { username } } } });
  }
  const { token } = await app.login("alice");
  return { ...app, get: (path: string) => app.request.get(path).auth(token, { type: "bearer" }) };
}

describe("GET /items", () => {
  it("lists the user's items by name and owner, and no one else's", async () => {
    await using shop = await openShop();
    await shop.get("/items").expect(200, [
      { name: "pen", owner: "alice" },
      { name: "book", owner: "alice" },
    ]);
  });

  it("wants a token", async () => {
    await using shop = await openShop();
    const response = await shop.request.get("/items").expect(401, { detail: "Could not validate credentials" });
    expect(response.get("WWW-Authenticate")).toBe("Bearer");
  });
});

describe("GET /items/{item_id}", () => {
  it("shows an item of the user's", async () => {
    await using shop = await openShop();
    await shop.get("/items/3").expect(200, { name: "book", owner: "alice" });
  });

  it("knows nothing of another user's item, just as of one that does not exist", async () => {
    await using shop = await openShop();
    await shop.get("/items/2").expect(404, { detail: "Not Found" });
    await shop.get("/items/99").expect(404, { detail: "Not Found" });
  });

  it.each(["abc", "1.5", "0", "-1", "99999999999999999999999"])("refuses %s, which is no key", async (id) => {
    await using shop = await openShop();
    const response = await shop.get(`/items/${id}`).expect(422);
    expect(response.body.detail[0].loc).toEqual(["path", "item_id"]);
  });

  it("says nothing without a token", async () => {
    await using shop = await openShop();
    await shop.request.get("/items/1").expect(401);
    await shop.request.get("/items/99").expect(401);
  });
});
