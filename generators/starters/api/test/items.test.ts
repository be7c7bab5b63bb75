import { describe, expect, it } from "@jest/globals";

import { TestClient } from "tsgi/testing";

import { createApp } from "../src/app.js";

const pen = { name: "Pen", price: 1.5 };

describe("/items", () => {
  it("lists what was added, a page at a time", async () => {
    await using client = await TestClient.open(createApp());
    await client.get("/items").expect(200, []);
    const added = await client.post("/items").send(pen).expect(201);
    expect(added.get("Location")).toBe("/items/1");
    await client.post("/items").send({ name: "Lamp", price: 30 }).expect(201);
    await client.get("/items?limit=1&offset=1").expect(200, [{ id: 2, name: "Lamp", price: 30 }]);
  });

  it("answers with one item, or 404", async () => {
    await using client = await TestClient.open(createApp());
    await client.post("/items").send(pen).expect(201);
    await client.get("/items/1").expect(200, { id: 1, ...pen });
    await client.get("/items/2").expect(404, { detail: "Not Found" });
  });

  it("removes an item once", async () => {
    await using client = await TestClient.open(createApp());
    await client.post("/items").send(pen).expect(201);
    await client.delete("/items/1").expect(204);
    await client.delete("/items/1").expect(404);
  });

  const wrong = [{}, { name: "", price: 1 }, { name: "Pen", price: -1 }, { name: "Pen", price: "1" }];
  for (const body of wrong) {
    it(`refuses ${JSON.stringify(body)}`, async () => {
      await using client = await TestClient.open(createApp());
      await client.post("/items").send(body).expect(422);
      await client.get("/items").expect(200, []);
    });
  }
});
