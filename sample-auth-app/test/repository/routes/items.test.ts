import { describe, expect, it } from "@jest/globals";

import { openApp } from "../support.js";
import { forEachRow } from "../support/cases.js";

/** Two users, each with items. */
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
  const as = (method: "get" | "post" | "delete") => (path: string) =>
    app.request[method](path).auth(token, { type: "bearer" });
  const search = () => app.websocket("/items/search", { headers: { authorization: `Bearer ${token}` } });
  return { ...app, search, get: as("get"), post: as("post"), delete: as("delete") };
}

describe("GET /items", () => {
  it("lists only the user's items, by name and owner", async () => {
    await using shop = await openShop();
    await shop.get("/items").expect(200, [
      { id: 1, name: "pen", owner: "alice" },
      { id: 3, name: "book", owner: "alice" },
    ]);
  });
});

describe("a page of GET /items", () => {
  const countTo = (number: number) => Array.from({ length: number }, (_, index) => `item ${index + 1}`);

  it("returns items in pages, each of them once", async () => {
    await using shop = await openShop();
    const { id: ownerId } = await shop.db.user.findUniqueOrThrow({ where: { username: "alice" } });
    await forEachRow(
      [
        { count: 5, limit: 2, pages: [2, 2, 1] },
        { count: 4, limit: 2, pages: [2, 2] },
        { count: 2, limit: 2, pages: [2] },
        { count: 0, limit: 2, pages: [0] },
        { count: 101, limit: 100, pages: [100, 1] },
      ],
      async ({ count, limit, pages }) => {
        await shop.db.item.deleteMany();
        await shop.db.item.createMany({ data: countTo(count).map((name) => ({ name, ownerId })) });
        const seen: string[][] = [];
        for (let query = `limit=${limit}`; query !== "";) {
          const response = await shop.get(`/items?${query}`).expect(200);
          seen.push(response.body.map(({ name }: { name: string }) => name));
          const cursor = response.get("X-Next-Cursor");
          query = cursor === undefined ? "" : `limit=${limit}&cursor=${cursor}`;
        }
        expect(seen.map((names) => names.length)).toEqual(pages);
        expect(seen.flat()).toEqual(countTo(count));
      },
    );
  });

  it("rejects an invalid parameter with 422", async () => {
    await using shop = await openShop();
    await forEachRow(
      ["limit=0", "limit=101", "limit=ten", "limit=", "cursor=0", "cursor=abc", "cursor=2147483648"],
      async (query) => {
        const response = await shop.get(`/items?${query}`).expect(422);
        expect(response.body.detail[0].loc).toEqual(["query", query.replace(/=.*/, "")]);
      },
    );
  });
});

describe("POST /items", () => {
  it("adds an item of the user, and returns its location", async () => {
    await using shop = await openShop();
    const response = await shop.post("/items").send({ name: "Füller 🖋" });
    expect([response.status, response.body]).toEqual([201, { id: 4, name: "Füller 🖋", owner: "alice" }]);
    expect(response.get("Location")).toBe("/items/4");
    await shop.get("/items/4").expect(200, response.body);
  });

  it("accepts only the name: not the owner, not the key", async () => {
    await using shop = await openShop();
    const { id: ownerId } = await shop.db.user.findUniqueOrThrow({ where: { username: "bob" } });
    const body = { name: "pen", owner: "bob", ownerId, owner_id: ownerId, id: 4_711 };
    const response = await shop.post("/items").send(body).expect(201, { id: 4, name: "pen", owner: "alice" });
    expect(response.get("Location")).not.toBe("/items/4711");
  });

  it("rejects a wrong name with 422", async () => {
    await using shop = await openShop();
    await forEachRow(
      [
        ["no name", {}],
        ["an empty name", { name: "" }],
        ["a name of 201 characters", { name: "x".repeat(201) }],
        ["NUL", { name: "a\0b" }],
        ["a line break", { name: "a\nb" }],
        ["half of a surrogate pair", { name: "a\ud83d" }],
        ["a number", { name: 1 }],
        ["null", { name: null }],
      ],
      async (_, body) => {
        await shop.post("/items").send(body).expect(422);
      },
    );
  });
});

describe("DELETE /items/{item_id}", () => {
  it("does not delete another user's item, and responds as if it did not exist", async () => {
    await using shop = await openShop();
    await shop.delete("/items/2").expect(404, { detail: "Not Found" });
    expect(await shop.db.item.count()).toBe(3);
  });
});

describe("GET /items/{item_id}", () => {
  it("responds to another user's item as to one that does not exist", async () => {
    await using shop = await openShop();
    await shop.get("/items/2").expect(404, { detail: "Not Found" });
    await shop.get("/items/99").expect(404, { detail: "Not Found" });
  });

  it("rejects an invalid id", async () => {
    await using shop = await openShop();
    await forEachRow(["abc", "1.5", "0", "-1", "2147483648", "99999999999999999999999"], async (id) => {
      const response = await shop.get(`/items/${id}`).expect(422);
      expect(response.body.detail[0].loc).toEqual(["path", "item_id"]);
    });
  });
});

describe("WEBSOCKET /items/search", () => {
  it("finds the user's items as the user types, with the token and the database of the other routes", async () => {
    await using shop = await openShop();
    await using socket = await shop.search();
    await socket.sendText("o");
    expect(await socket.receiveJson()).toEqual([{ id: 3, name: "book", owner: "alice" }]);
    await socket.sendText("lamp"); // bob's
    expect(await socket.receiveJson()).toEqual([]);
    await shop.db.user.update({ where: { username: "alice" }, data: { disabled: true } });
    await socket.sendText("o");
    expect(await socket.receiveJson()).toEqual([]);
  });

  it("wants a token", async () => {
    await using shop = await openShop();
    await expect(shop.websocket("/items/search")).rejects.toMatchObject({ statusCode: 401 });
  });
});
