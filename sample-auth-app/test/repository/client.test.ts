import { describe, expect, it } from "@jest/globals";

import { createClient } from "./generated/api.js";
import { openApp } from "./support.js";
import { PASSWORD } from "./support/constants.js";

/** A client of the application that has logged in. */
async function logIn(baseUrl: string, username: string) {
  const client = createClient({ baseUrl });
  const { data } = await client.POST("/auth/token", {
    body: { username, password: PASSWORD },
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
    // By default it does the same, but not if tests have a separate `Function`.
    bodySerializer: (form) => new URLSearchParams(Object.entries(form)).toString(),
  });
  client.use({
    onRequest: ({ request }) => request.headers.set("Authorization", `Bearer ${data?.access_token}`),
  });
  return client;
}

describe("the client that `tsgi client` writes", () => {
  it("logs in, adds an item and lists it, with the types of the document", async () => {
    await using app = await openApp();
    await app.register();
    const client = await logIn(app.url, "alice");
    const added = await client.POST("/items", { body: { name: "Notebook" } });
    expect([added.response.status, added.data?.owner]).toEqual([201, "alice"]);
    const { data: items } = await client.GET("/items", { params: { query: { limit: 10 } } });
    // @ts-expect-error -- an item has no such field
    expect(items?.[0]?.price).toBeUndefined();
    const names: string[] | undefined = items?.map(({ name }) => name);
    expect(names).toEqual(["Notebook"]);
  });

  it("types the body of an error", async () => {
    await using app = await openApp();
    const { data, error, response } = await createClient({ baseUrl: app.url }).GET("/users/me");
    expect([response.status, data]).toEqual([401, undefined]);
    const detail: string | undefined = error?.detail;
    expect(detail).toBe("Could not validate credentials");
  });
});
