import { describe, expect, it } from "@jest/globals";
import { type ApiOf, createClient } from "@tsgi/client";
import { App, t } from "../../src/index.js";
import { OffsetPage, type OffsetPageOptions, Page } from "../../src/contrib/pagination.js";
import { call } from "../../../test/support/call.js";
import { KeptLog } from "../../../test/support/kept-log.js";

const ROWS = Array.from({ length: 7 }, (_, index) => ({ id: index + 1, name: `né ${index + 1}`, secret: "x" }));

function create(options: { defaultLimit?: number; maxLimit?: number } = {}) {
  const users = Page(t.Object({ id: t.Integer(), name: t.String() }), {
    cursor: t.Object({ id: t.Integer(), name: t.String() }),
    ...options,
  });
  const { page: param, returns, responses } = users;
  const app = new App();
  app.get("/users", { params: { page: param }, returns, responses }, async ({ page }) => {
    const after: number = page.after?.id ?? 0;
    return page.of(ROWS.filter(({ id }) => id > after).slice(0, page.limit + 1), ({ id, name }) => ({ id, name }));
  });
  return app;
}

describe("Page", () => {
  it("returns a list in pages, each with a link to the next, which keeps the rest of the query", async () => {
    const app = create();
    const seen: number[][] = [];
    for (let target: string | null = "/users?limit=3&sort=id"; target !== null;) {
      const { json, headers } = await call(app, "GET", target);
      const { items, next } = json as { items: { id: number }[]; next: string | null };
      seen.push(items.map(({ id }) => id));
      expect(Object.keys(items[0] ?? {})).toEqual(["id", "name"]);
      const [, link] = /^<(.*)>; rel="next"$/.exec(headers["link"] ?? "") ?? [];
      expect(link === undefined).toBe(next === null);
      if (link !== undefined) expect(new URLSearchParams(link).get("sort")).toBe("id");
      target = link === undefined ? null : new URL(link, `http://a${target}`).href.slice("http://a".length);
    }
    expect(seen).toEqual([[1, 2, 3], [4, 5, 6], [7]]);
  });

  it("reports that there is no next page if this one contains the last rows", async () => {
    const { json, headers } = await call(create({ defaultLimit: 7 }), "GET", "/users");
    expect(json).toMatchObject({ next: null });
    expect(headers).not.toHaveProperty("link");
  });

  it("returns no cursor that it would reject", async () => {
    const logger = new KeptLog();
    const app = new App({ logger });
    const names = Page(t.String(), { cursor: t.Object({ name: t.String() }), defaultLimit: 1 });
    const rows = ["a", "b".repeat(3_000), "c", "d".repeat(4_000), "e"];
    app.get("/names", { params: { page: names.page }, returns: names.returns }, async ({ page }) => {
      const from = rows.indexOf(page.after?.name ?? "") + 1;
      return page.of(rows.slice(from, from + page.limit + 1), (name) => ({ name }));
    });
    const statuses: number[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const { status, json } = await call(app, "GET", cursor === "" ? "/names" : `/names?cursor=${cursor}`);
      statuses.push(status);
      cursor = (json as { next?: string }).next ?? null;
    }
    expect(statuses).toEqual([200, 200, 200, 500]);
    expect(logger.lines).toEqual([expect.stringContaining("Order the list by shorter columns")]);
  });

  const cursorOf = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  it.each([
    ["no base64", "%%%"],
    ["no JSON", Buffer.from("{").toString("base64url")],
    ["no UTF-8", Buffer.from([0x22, 0xff, 0x22]).toString("base64url")],
    ["of another list", cursorOf({ createdAt: 5 })],
    ["of another type", cursorOf({ id: "1 or 1=1", name: "" })],
    ["nothing", ""],
    ["too long", "a".repeat(4_097)],
  ])("responds with 422 to a cursor that is %s", async (_, cursor) => {
    const { status, faults } = await call(create(), "GET", `/users?cursor=${encodeURIComponent(cursor)}`);
    expect({ status, loc: faults[0]?.loc }).toEqual({ status: 422, loc: ["query", "cursor"] });
  });

  it.each(["0", "101", "x"])("responds with 422 to the limit %s", async (limit) => {
    expect((await call(create(), "GET", `/users?limit=${limit}`)).faults[0]?.loc).toEqual(["query", "limit"]);
  });

  it("is in the document: the parameters, the page, the header", () => {
    const operation = create({ maxLimit: 50 }).openapi().paths["/users"]?.get;
    expect(operation?.parameters).toEqual([
      expect.objectContaining({ name: "limit", in: "query", required: false }),
      expect.objectContaining({ name: "cursor", in: "query", required: false }),
    ]);
    expect(JSON.stringify(operation?.parameters)).toContain('"maximum":50');
    expect(operation?.responses["200"]).toMatchObject({ headers: { Link: { description: expect.any(String) } } });
    expect(JSON.stringify(operation?.responses["200"])).toContain('"items"');
  });

  const cursor = t.Object({ id: t.Integer() });
  it.each([
    ["no schema of items", [{}, { cursor }], "TSGI_INVALID_PAGE"],
    ["no cursor", [t.Object({}), {}], "TSGI_INVALID_PAGE"],
    [
      "more by default than is allowed",
      [t.Object({}), { cursor, defaultLimit: 20, maxLimit: 10 }],
      "TSGI_INVALID_PAGE",
    ],
    ["an unknown option", [t.Object({}), { cursor, limit: 10 }], "TSGI_UNKNOWN_OPTION"],
  ])("rejects %s", (_, args, code) => {
    expect(() => Page(...(args as Parameters<typeof Page>))).toThrow(expect.objectContaining({ code }));
  });
});

describe("OffsetPage", () => {
  const User = t.Object({ id: t.Integer(), name: t.String() }, { title: "User" });

  function createList(total = 7, options: OffsetPageOptions = {}) {
    const { page: param, returns, responses } = OffsetPage(User, options);
    const app = new App();
    app.get("/users", { params: { page: param }, returns, responses }, async ({ page }) => {
      const rows = ROWS.slice(0, total);
      return page.of(rows.slice(page.offset, page.offset + page.limit), rows.length);
    });
    return app;
  }

  const linksOf = (link = "") =>
    [...link.matchAll(/<\?([^>]*)>; rel="(\w+)"/g)].map(([, query = "", rel = ""]) => [rel, query] as const);

  it("returns a page with the total, and without properties that are not in the schema", async () => {
    const { json } = await call(createList(), "GET", "/users?limit=2&offset=4");
    const items = [5, 6].map((id) => ({ id, name: `né ${id}` }));
    expect(json).toEqual({ items, total: 7, limit: 2, offset: 4 });
  });

  it("begins with the first page, of the default size", async () => {
    const { json } = await call(createList(7, { maxLimit: 5 }), "GET", "/users");
    expect(json).toMatchObject({ items: { length: 5 }, total: 7, limit: 5, offset: 0 });
  });

  it.each([
    ["the first page", 7, "limit=3", { first: 0, next: 3, last: 6 }],
    ["a page in the middle", 7, "limit=3&offset=3", { first: 0, prev: 0, next: 6, last: 6 }],
    ["the last page", 7, "limit=3&offset=6", { first: 0, prev: 3, last: 6 }],
    ["a full last page", 6, "limit=3&offset=3", { first: 0, prev: 0, last: 3 }],
    ["an offset between two pages", 7, "limit=3&offset=1", { first: 0, prev: 0, next: 4, last: 6 }],
    ["an offset after the end", 7, "limit=3&offset=90", { first: 0, prev: 6, last: 6 }],
    ["an empty list", 0, "limit=3", { first: 0, last: 0 }],
  ])("links %s to the others, and keeps the rest of the query", async (_, total, query, expected) => {
    const { headers } = await call(createList(total), "GET", `/users?sort=id&${query}`);
    const links = linksOf(headers["link"]).map(([rel, text]) => {
      const parameters = new URLSearchParams(text);
      expect([parameters.get("sort"), parameters.get("limit")]).toEqual(["id", "3"]);
      return [rel, Number(parameters.get("offset"))];
    });
    expect(Object.fromEntries(links)).toEqual(expected);
  });

  it("links to no page after maxOffset, which a request could not read", async () => {
    const { headers } = await call(createList(7, { maxOffset: 3 }), "GET", "/users?limit=2&offset=2");
    expect(linksOf(headers["link"]).map(([rel]) => rel)).toEqual(["first", "prev"]);
  });

  it.each([
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["offset=-1", "offset"],
    ["offset=x", "offset"],
    ["offset=51", "offset"],
  ])("responds with 422 to %s", async (query, name) => {
    const { status, faults } = await call(createList(7, { maxOffset: 50 }), "GET", `/users?${query}`);
    expect({ status, loc: faults[0]?.loc }).toEqual({ status: 422, loc: ["query", name] });
  });

  it("is in the OpenAPI document: the parameters, the schema of the page, the header", () => {
    const document = createList(7, { maxLimit: 50 }).openapi();
    const operation = document.paths["/users"]?.get;
    expect(operation?.parameters).toEqual([
      expect.objectContaining({ name: "limit", in: "query", required: false }),
      expect.objectContaining({ name: "offset", in: "query", required: false }),
    ]);
    expect(operation?.responses["200"]).toMatchObject({ headers: { Link: { description: expect.any(String) } } });
    expect(document.components?.schemas?.["UserPage"]).toMatchObject({
      required: ["items", "total", "limit", "offset"],
    });
  });

  it("can be used with Page for the same item: two schemas with separate names", () => {
    const app = new App();
    const byCursor = Page(User, { cursor: t.Object({ id: t.Integer() }) });
    const byOffset = OffsetPage(User);
    app.get("/a", { params: { page: byCursor.page }, returns: byCursor.returns }, async ({ page }) =>
      page.of([], () => ({ id: 1 })),
    );
    app.get("/b", { params: { page: byOffset.page }, returns: byOffset.returns }, async ({ page }) => page.of([], 0));
    const { components } = app.openapi();
    expect(Object.keys(components?.schemas ?? {}).filter((name) => name.includes("Page"))).toHaveLength(2);
  });

  it("has parameters that a typed client sends, as Page has", async () => {
    const byOffset = OffsetPage(User);
    const byCursor = Page(User, { cursor: t.Object({ id: t.Integer() }) });
    const app = new App();
    const routes = {
      offset: app.get("/offset", { params: { page: byOffset.page }, returns: byOffset.returns }, async ({ page }) =>
        page.of([], page.offset),
      ),
      cursor: app.get("/cursor", { params: { page: byCursor.page }, returns: byCursor.returns }, async ({ page }) =>
        page.of(ROWS.slice(0, page.limit + 1), ({ id }) => ({ id })),
      ),
    };
    const client = createClient<ApiOf<typeof routes>>({ fetch: app.fetch });
    const { data } = await client.GET("/offset", { params: { query: { limit: 5, offset: 7 } } });
    expect(data).toEqual({ items: [], total: 7, limit: 5, offset: 7 });
    const first = await client.GET("/cursor", { params: { query: { limit: 1 } } });
    const query = { limit: 2, cursor: first.data?.next ?? "" };
    expect((await client.GET("/cursor", { params: { query } })).data?.items).toHaveLength(2);
    // @ts-expect-error -- the offset is a number
    await client.GET("/offset", { params: { query: { offset: "7" } } });
    await app.fetch.close();
  });

  it.each([
    ["no schema of items", [{}], "TSGI_INVALID_PAGE"],
    ["more by default than is allowed", [User, { defaultLimit: 20, maxLimit: 10 }], "TSGI_INVALID_PAGE"],
    ["a negative offset", [User, { maxOffset: -1 }], "TSGI_INVALID_OPTION"],
    ["an unknown option", [User, { cursor: User }], "TSGI_UNKNOWN_OPTION"],
  ])("rejects %s", (_, args, code) => {
    expect(() => OffsetPage(...(args as Parameters<typeof OffsetPage>))).toThrow(expect.objectContaining({ code }));
  });
});
