import { type as arktype } from "arktype";
import * as v from "valibot";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { z } from "zod";
import { describe, expect, it } from "@jest/globals";
import { App, Cookie, Form, Header, Query, t } from "tsgi";
import { type ApiOf, createClient } from "../src/index.js";

const app = new App();
const routes = {
  zod: app.get(
    "/zod",
    { params: { filter: Query(z.object({ text: z.string(), page: z.coerce.number<number>().default(1) })) } },
    async ({ filter }) => filter,
  ),
  valibot: app.get(
    "/valibot",
    { params: { head: Header(toStandardJsonSchema(v.object({ trace: v.string(), tenant: v.optional(v.string()) }))) } },
    async ({ head }) => head,
  ),
  arktype: app.get(
    "/arktype",
    { params: { cookies: Cookie(arktype({ theme: "string" })) } },
    async ({ cookies }) => cookies,
  ),
  form: app.post("/form", { params: { login: Form(z.object({ user: z.string() })) } }, async ({ login }) => login),
  all: app.get(
    "/all",
    { params: { both: Query(t.Intersect([t.Object({ a: t.String() }), t.Object({ b: t.Integer() })])) } },
    async ({ both }) => both,
  ),
  list: app.get("/list", { params: { tags: Query(z.array(z.string())) } }, async ({ tags }) => tags),
  one: app.get("/one", { params: { id: Query(z.string()) } }, async ({ id }) => id),
};
const client = createClient<ApiOf<typeof routes>>({ fetch: app.fetch });

describe("a call of a route whose parameters have a schema of another library", () => {
  it("sends the properties of an object in the query", async () => {
    const { data } = await client.GET("/zod", { params: { query: { text: "a" } } });
    expect(data).toEqual({ text: "a", page: 1 });
    // @ts-expect-error -- the parameter is read property by property
    const { response } = await client.GET("/zod", { params: { query: { filter: { text: "a" } } } });
    expect(response.status).toBe(422);
  });

  it("sends the properties of an object as headers, cookies and fields of a form", async () => {
    expect((await client.GET("/valibot", { params: { header: { trace: "1" } } })).data).toEqual({ trace: "1" });
    expect((await client.GET("/arktype", { params: { cookie: { theme: "dark" } } })).data).toEqual({ theme: "dark" });
    const headers = { "Content-Type": "application/x-www-form-urlencoded" } as const;
    expect((await client.POST("/form", { body: { user: "ada" }, headers })).data).toEqual({ user: "ada" });
  });

  it("sends the properties of an intersection", async () => {
    expect((await client.GET("/all", { params: { query: { a: "x", b: 2 } } })).data).toEqual({ a: "x", b: 2 });
  });

  it("sends any other value by the name of the parameter", async () => {
    expect((await client.GET("/list", { params: { query: { tags: ["a", "b"] } } })).data).toEqual(["a", "b"]);
    expect((await client.GET("/one", { params: { query: { id: "x" } } })).data).toBe("x");
  });
});
