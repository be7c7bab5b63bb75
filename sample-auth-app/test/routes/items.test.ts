import { describe, expect, it } from "@jest/globals";

import { openApp, PASSWORD } from "../support.js";

/** The application, and requests of two users. */
async function openShop() {
  const app = await openApp();
  const as = async (username: string) => {
    await app.register(username);
    const { token } = await app.login(username);
    return (method: "get" | "post" | "delete", path: string) =>
      app.request[method](path).auth(token, { type: "bearer" });
  };
  return { ...app, alice: await as("alice"), bob: await as("bob") };
}

describe("/items", () => {
  it("adds, returns and deletes an item", async () => {
    await using shop = await openShop();
    const response = await shop.alice("post", "/items").send({ name: "Füller 🖋", owner: "bob", id: 7 }).expect(201);
    const path = response.get("Location") ?? "";
    expect(response.body).toEqual({ id: Number(path.replace("/items/", "")), name: "Füller 🖋", owner: "alice" });
    await shop.alice("get", path).expect(200, response.body);
    await shop.alice("delete", path).expect(204);
    await shop.alice("get", path).expect(404, { detail: "Not Found" });
    await shop.alice("delete", path).expect(404);
  });

  it("lists the user's items in pages, oldest first", async () => {
    await using shop = await openShop();
    for (const name of ["pen", "book", "lamp"]) {
      await shop.alice("post", "/items").send({ name }).expect(201);
    }
    await shop.bob("post", "/items").send({ name: "cup" }).expect(201);
    const names: string[] = [];
    for (let query = "limit=2"; query !== "";) {
      const { body, headers } = await shop.alice("get", `/items?${query}`).expect(200);
      names.push(...body.map(({ name }: { name: string }) => name));
      const cursor = headers["x-next-cursor"];
      query = cursor === undefined ? "" : `limit=2&cursor=${cursor}`;
    }
    expect(names).toEqual(["pen", "book", "lamp"]);
  });

  it("responds to another user's item as to one that does not exist", async () => {
    await using shop = await openShop();
    const { body } = await shop.bob("post", "/items").send({ name: "lamp" }).expect(201);
    await shop.alice("get", `/items/${body.id}`).expect(404);
    await shop.alice("delete", `/items/${body.id}`).expect(404);
    await shop.bob("get", `/items/${body.id}`).expect(200);
  });

  it("rejects a wrong name, id and page with 422", async () => {
    await using shop = await openShop();
    for (const name of ["", "x".repeat(201), "a\nb", 1, null]) {
      await shop.alice("post", "/items").send({ name }).expect(422);
    }
    for (const path of ["/items/abc", "/items/2147483648", "/items?limit=0", "/items?cursor=x"]) {
      await shop.alice("get", path).expect(422);
    }
  });

  it("requires a token whose scopes allow it", async () => {
    await using shop = await openShop();
    await shop.request.get("/items").expect(401);
    const form = { username: "alice", password: PASSWORD, scope: "items:read" };
    const { body } = await shop.request.post("/auth/token").type("form").send(form).expect(200);
    expect(body.scope).toBe("items:read");
    const limited = (method: "get" | "post") =>
      shop.request[method]("/items").auth(body.access_token, { type: "bearer" });
    await limited("get").expect(200);
    await limited("post").send({ name: "pen" }).expect(403, { detail: "Not enough scopes" });
  });
});
