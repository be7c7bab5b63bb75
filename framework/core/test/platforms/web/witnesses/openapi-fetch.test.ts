import { describe, expect, it } from "@jest/globals";
import createClient from "openapi-fetch";
import { App, Header, HTTPException, Query, t } from "../../../../src/index.js";
import { KeptLog } from "../../../../../test/support/kept-log.js";

interface Item {
  readonly id: number;
  readonly name: string;
}

/** The document's paths in the form that openapi-typescript writes. */
interface paths {
  readonly "/items": {
    readonly get: {
      readonly parameters: { readonly query?: { readonly tag?: readonly string[]; readonly limit?: number } };
      readonly responses: { readonly 200: { readonly content: { readonly "application/json": readonly string[] } } };
    };
    readonly post: {
      readonly parameters: { readonly header: { readonly "x-token": string } };
      readonly requestBody: { readonly content: { readonly "application/json": { readonly name: string } } };
      readonly responses: {
        readonly 201: { readonly content: { readonly "application/json": Item } };
        readonly 422: { readonly content: { readonly "application/json": { readonly detail: readonly unknown[] } } };
      };
    };
  };
  readonly "/items/{id}": {
    readonly get: {
      readonly parameters: { readonly path: { readonly id: number } };
      readonly responses: {
        readonly 200: { readonly content: { readonly "application/json": Item } };
        readonly 404: { readonly content: { readonly "application/json": { readonly detail: string } } };
      };
    };
    readonly delete: {
      readonly parameters: { readonly path: { readonly id: number } };
      readonly responses: { readonly 204: { readonly content?: never } };
    };
  };
}

function shop(): App {
  const app = new App({ logger: new KeptLog() });
  const Item = t.Object({ id: t.Integer(), name: t.String() });
  app.get(
    "/items",
    { params: { tag: Query(t.Array(t.String()), { default: [] }), limit: t.Integer({ default: 10 }) } },
    async ({ tag, limit }) => [...tag, String(limit)],
  );
  app.post(
    "/items",
    {
      params: { item: t.Object({ name: t.String({ minLength: 1 }) }), token: Header(t.String(), { alias: "x-token" }) },
      returns: Item,
      statusCode: 201,
    },
    async ({ item, token }) => ({ id: token.length, ...item }),
  );
  app.get("/items/{id}", { params: { id: t.Integer() }, returns: Item }, async ({ id }) => {
    if (id !== 1) throw new HTTPException(404);
    return { id, name: "Pen" };
  });
  app.delete("/items/{id}", { params: { id: t.Integer() }, statusCode: 204 }, async () => undefined);
  return app;
}

describe("openapi-fetch as a client of app.fetch", () => {
  const app = shop();
  const client = createClient<paths>({ baseUrl: "http://shop.test", fetch: (request) => app.fetch(request) });

  it("writes paths, repeated query parameters, headers and bodies that the App reads", async () => {
    expect((await client.GET("/items", { params: { query: { tag: ["a b", "c"], limit: 3 } } })).data).toEqual([
      "a b",
      "c",
      "3",
    ]);
    const made = await client.POST("/items", { params: { header: { "x-token": "four" } }, body: { name: "Lamp" } });
    expect([made.response.status, made.data]).toEqual([201, { id: 4, name: "Lamp" }]);
  });

  it("gets errors as data: the body of an exception, and the validation errors of a 422", async () => {
    expect((await client.GET("/items/{id}", { params: { path: { id: 1 } } })).data).toEqual({ id: 1, name: "Pen" });
    const missing = await client.GET("/items/{id}", { params: { path: { id: 2 } } });
    expect([missing.response.status, missing.error]).toEqual([404, { detail: "Not Found" }]);
    const wrong = await client.POST("/items", { params: { header: { "x-token": "" } }, body: { name: "" } });
    expect(wrong.error).toMatchObject({ detail: [{ loc: ["body", "name"] }] });
  });

  it("gets no data from a 204", async () => {
    const { response, data, error } = await client.DELETE("/items/{id}", { params: { path: { id: 1 } } });
    expect([response.status, data, error]).toEqual([204, undefined, undefined]);
    await app.fetch.close();
  });
});
