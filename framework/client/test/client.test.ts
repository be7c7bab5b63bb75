import { describe, expect, it } from "@jest/globals";
import {
  App,
  Body,
  Cookie,
  Depends,
  File,
  Form,
  Header,
  HTMLResponse,
  HTTPException,
  Path,
  Query,
  Response,
  Router,
  Security,
  t,
  withParams,
} from "tsgi";
import { type ApiOf, createClient } from "@tsgi/client";
import { HTTPBearer } from "tsgi/security";

const Item = t.Object({ id: t.Integer(), name: t.String(), added: t.Date() });
const NewItem = t.Object({ name: t.String(), amount: t.Integer({ default: 1 }), due: t.Optional(t.Date()) });
const added = new Date("2026-01-02T03:04:05.000Z");

const app = new App();
const router = new Router({ prefix: "/items" });
const getPage = withParams({ page: Query(t.Integer(), { default: 1 }) }, async ({ page }) => page);
const getAgent = withParams({ page: Depends(getPage), userAgent: Header() }, async ({ userAgent, page }) => ({
  userAgent,
  page,
}));

const routes = {
  getItem: router.get(
    "/{item_id}",
    {
      params: { item_id: t.Integer(), version: t.Integer({ default: 1 }) },
      returns: Item,
      responses: { 404: { schema: t.Object({ detail: t.String() }) } },
    },
    async ({ item_id, version }) => {
      if (item_id === 0) throw new HTTPException(404);
      return { id: item_id, name: `v${version}`, added };
    },
  ),
  addItem: router.post("", { params: { item: NewItem }, returns: NewItem, statusCode: 201 }, async ({ item }) => item),
  agent: router.get("/agent/of", { params: { agent: Depends(getAgent) } }, async ({ agent }) => agent),
  search: router.get(
    "/search/by",
    { params: { q: Query({ alias: "query-text" }), tags: Query(t.Array(t.String())), x: Header({ default: null }) } },
    async ({ q, tags, x }) => ({ q, tags, x }),
  ),
  lists: router.get(
    "/lists/{ids}",
    {
      params: {
        ids: t.Array(t.String()),
        tags: Query(t.Array(t.String())),
        xCounts: Header(t.Array(t.Integer())),
        flags: Cookie(t.Array(t.Boolean())),
      },
    },
    async (args) => args,
  ),
  theme: router.get("/theme/of", { params: { theme: Cookie() } }, async ({ theme }) => theme),
  price: router.put("/price/of", { params: { price: Body(t.Number(), { embed: true }) } }, async ({ price }) => price),
  login: router.post(
    "/login/now",
    { params: { username: Form(), age: Form(t.Integer({ minimum: 0 })) } },
    async ({ username, age }) => ({ username, age }),
  ),
  upload: router.post(
    "/upload/now",
    { params: { file: File(), title: Form({ default: "none" }) } },
    async ({ file, title }) => ({ size: file.size, title }),
  ),
  numbers: router.get("/numbers/all", { returns: t.Object({ n: t.Integer(), at: t.Date() }) }, async function* () {
    for (let n = 1; n <= 3; n++) yield { n, at: added };
  }),
  ticks: router.get("/ticks/all", { stream: "sse" }, async function* () {
    for (let n = 1; n <= 3; n++) yield { n };
  }),
  page: router.get("/page/html", async () => new HTMLResponse("<p>hi</p>")),
  remove: router.delete(
    "/{item_id}",
    { params: { item_id: t.Integer() }, statusCode: 204 },
    async () => new Response(null, { statusCode: 204 }),
  ),
  both: router.route("/both/ways", { methods: ["get", "PUT"] }, async () => "both"),
};
const bearer = new HTTPBearer();
const getName = withParams({ token: Depends(bearer) }, async ({ token }) => token.credentials);
const guarded = {
  token: app.get("/token", { params: { token: Depends(bearer) } }, async ({ token }) => token.scheme),
  rename: app.put(
    "/names/{id}",
    { params: { name: Security(getName, { scopes: ["write"] }), id: t.Integer(), item: NewItem } },
    async ({ name, id, item }) => ({ name, id, amount: item.amount }),
  ),
};
const ping = app.get("/ping", async () => ({ ok: true }));
app.includeRouter(router, { prefix: "/v1" });

const client = createClient<ApiOf<typeof routes, "/v1"> & ApiOf<{ ping: typeof ping }>>({ fetch: app.fetch });

describe("a client typed by routes", () => {
  it("calls an application without a port, and returns data as JSON represents it", async () => {
    const { data, error } = await client.GET("/v1/items/{item_id}", { params: { path: { item_id: 7 } } });
    expect(error).toBeUndefined();
    expect(data).toEqual({ id: 7, name: "v1", added: added.toISOString() });
    const alone = await client.GET("/ping");
    expect(alone.data).toEqual({ ok: true });
  });

  it("calls it on a platform whose location has no value, such as Deno", async () => {
    Object.defineProperty(globalThis, "location", { value: undefined, configurable: true });
    try {
      const elsewhere = createClient<ApiOf<{ ping: typeof ping }>>({ fetch: app.fetch });
      expect(await elsewhere.GET("/ping")).toMatchObject({ data: { ok: true } });
    } finally {
      Reflect.deleteProperty(globalThis, "location");
    }
  });

  it.each(["", ".", "..", null, undefined, [], [".."]])(
    "does not send a request if a path parameter is %j",
    async (value) => {
      const sent: string[] = [];
      const counting = createClient<ApiOf<typeof routes, "/v1">>({
        fetch: async ({ url }) => {
          sent.push(url);
          return new globalThis.Response();
        },
      });
      const init = { params: { path: { item_id: value as unknown as number } } };
      const message = /^The value of \{item_id\} in \/v1\/items\/\{item_id\} is .*\. It must not be empty/;
      await expect(counting.DELETE("/v1/items/{item_id}", init)).rejects.toThrow(TypeError);
      await expect(counting.DELETE("/v1/items/{item_id}", init)).rejects.toThrow(message);
      expect(sent).toEqual([]);
    },
  );

  it("sends a path parameter that is 0, false, or has a slash or dots in other text", async () => {
    const echo = new App();
    const named = { get: echo.get("/files/{name}", { params: { name: t.String() } }, async ({ name }) => name) };
    const files = createClient<ApiOf<typeof named>>({ fetch: echo.fetch });
    const names = ["a/../b", "...", ".env", "%2e%2e", 0, false] as string[];
    const results = await Promise.all(names.map((name) => files.GET("/files/{name}", { params: { path: { name } } })));
    expect(results.map(({ data }) => data)).toEqual(names.map(String));
  });

  it("returns the validation errors of a 422 and the declared responses as errors", async () => {
    const { error, response } = await client.GET("/v1/items/{item_id}", {
      params: { path: { item_id: 1 }, query: { version: 0.5 } },
    });
    expect(response.status).toBe(422);
    const detail = error?.detail;
    expect(typeof detail === "string" ? detail : detail?.[0]?.loc).toEqual(["query", "version"]);
    const missing = await client.GET("/v1/items/{item_id}", { params: { path: { item_id: 0 } } });
    expect(missing.error).toEqual({ detail: "Not Found" });
  });

  it("calls routes with a security scheme, whose credentials are headers or come from middleware", async () => {
    const own = createClient<ApiOf<typeof guarded>>({ fetch: app.fetch });
    expect((await own.GET("/token")).response.status).toBe(401);
    expect(await own.GET("/token", { headers: { authorization: "Bearer a" } })).toMatchObject({ data: "Bearer" });
    own.use({ onRequest: ({ request }) => request.headers.set("authorization", "Bearer ann") });
    const { data } = await own.PUT("/names/{id}", { params: { path: { id: 1 } }, body: { name: "spade" } });
    expect(data).toEqual({ name: "ann", id: 1, amount: 1 });
  });

  it("lets a value with a default out of a body", async () => {
    const { data, response } = await client.POST("/v1/items", { body: { name: "a", due: "2026-01-02T00:00:00Z" } });
    expect(response.status).toBe(201);
    expect(data).toEqual({ name: "a", amount: 1, due: "2026-01-02T00:00:00.000Z" });
  });

  it("sends the parameters of dependencies, by their names on the wire", async () => {
    const { data } = await client.GET("/v1/items/agent/of", {
      params: { query: { page: 3 }, header: { "user-agent": "me" } },
    });
    expect(data).toEqual({ userAgent: "me", page: 3 });
    const found = await client.GET("/v1/items/search/by", {
      params: { query: { "query-text": "a b", tags: ["x", "y"] } },
    });
    expect(found.data).toEqual({ q: "a b", tags: ["x", "y"], x: null });
    const theme = await client.GET("/v1/items/theme/of", { params: { cookie: { theme: "dark" } } });
    expect(theme.data).toBe("dark");
  });

  it("sends a parameter that a dependency reads as text with the type of its other reader", async () => {
    const typed = new App();
    const readText = withParams(
      { id: Path(), page: Query(), xLevel: Header(t.String()) },
      async ({ id, page, xLevel }) => [id, page, xLevel],
    );
    const read = {
      get: typed.get(
        "/items/{id}",
        {
          params: {
            texts: Depends(readText),
            id: t.Integer(),
            page: Query(t.Integer(), { default: 1 }),
            xLevel: Header(t.Integer()),
          },
        },
        async ({ texts, id, page, xLevel }) => ({ texts, values: [id, page, xLevel] }),
      ),
      text: typed.get("/text/{id}", { params: { texts: Depends(readText), id: Path() } }, async ({ texts }) => texts),
    };
    const own = createClient<ApiOf<typeof read>>({ fetch: typed.fetch });
    const init = { params: { path: { id: 7 }, query: { page: 2 }, header: { "x-level": 3 } } };
    expect((await own.GET("/items/{id}", init)).data).toEqual({ texts: ["7", "2", "3"], values: [7, 2, 3] });
    const texts = { path: { id: "a" }, query: { page: "b" }, header: { "x-level": "c" } };
    expect((await own.GET("/text/{id}", { params: texts })).data).toEqual(["a", "b", "c"]);
    // @ts-expect-error -- a parameter that no function reads as a number is text
    expect((await own.GET("/text/{id}", { params: { ...texts, path: { id: 7 } } })).response.status).toBe(200);
  });

  it("sends a parameter of a prefix with the type of its reader, and as text without one", async () => {
    const typed = new App();
    const below = new Router();
    const params = { org: Path(t.Integer()), page: Query(t.Integer(), { default: 1 }) };
    const read = {
      path: below.get("/path", { params }, async ({ org, page }) => ({ org, page })),
      schema: below.get("/schema/{id}", { params: { org: t.Integer(), id: t.Integer() } }, async (args) => args),
      none: below.get("/none", async () => null),
    };
    typed.includeRouter(below, { prefix: "/{org}" });
    const own = createClient<ApiOf<typeof read, "/{org}">>({ fetch: typed.fetch });
    const path = { org: 7 };
    expect((await own.GET("/{org}/path", { params: { path } })).data).toEqual({ org: 7, page: 1 });
    expect((await own.GET("/{org}/path", { params: { path, query: { page: 2 } } })).data).toEqual({ org: 7, page: 2 });
    const both = { org: 7, id: 8 };
    expect((await own.GET("/{org}/schema/{id}", { params: { path: both } })).data).toEqual(both);
    expect((await own.GET("/{org}/none", { params: { path: { org: "a" } } })).data).toBeNull();
    // @ts-expect-error -- no function reads it as a number
    expect((await own.GET("/{org}/none", { params: { path } })).response.status).toBe(200);
  });

  it("sends the properties of an object in the headers by the names of the headers", async () => {
    const typed = new App();
    const Levels = t.Object({ xLevel: t.Integer(), user_agent: t.Optional(t.String()), xTags: t.Array(t.String()) });
    const read = { get: typed.get("/levels", { params: { levels: Header(Levels) } }, async ({ levels }) => levels) };
    const own = createClient<ApiOf<typeof read>>({ fetch: typed.fetch });
    const header = { "x-level": 3, "user-agent": "me", "x-tags": ["a", "b"] };
    const { data } = await own.GET("/levels", { params: { header } });
    expect(data).toEqual({ xLevel: 3, user_agent: "me", xTags: ["a", "b"] });
    // @ts-expect-error -- the names of the properties are not on the wire
    expect((await own.GET("/levels", { params: { header: { xLevel: 3, xTags: [] } } })).response.status).toBe(422);
  });

  it("sends arrays in every place as the route reads them", async () => {
    const { data } = await client.GET("/v1/items/lists/{ids}", {
      params: {
        path: { ids: ["a,b", "c/d", "\u00e4 %"] },
        query: { tags: ["x,y", "&"] },
        header: { "x-counts": [1, 2, 3] },
        cookie: { flags: [true, false] },
      },
    });
    expect(data).toEqual({
      ids: ["a,b", "c/d", "\u00e4 %"],
      tags: ["x,y", "&"],
      xCounts: [1, 2, 3],
      flags: [true, false],
    });
  });

  it("sends an embedded body, forms and files", async () => {
    expect((await client.PUT("/v1/items/price/of", { body: { price: 1.5 } })).data).toBe(1.5);
    const login = { username: "a&b", age: 3 };
    for (const type of ["application/x-www-form-urlencoded", "multipart/form-data"] as const) {
      const { data } = await client.POST("/v1/items/login/now", { body: login, headers: { "Content-Type": type } });
      expect(data).toEqual(login);
    }
    const { data } = await client.POST("/v1/items/upload/now", { body: { file: new Blob(["12345"]) } });
    expect(data).toEqual({ size: 5, title: "none" });
  });

  it("returns the items of a stream one by one", async () => {
    const { data } = await client.GET("/v1/items/numbers/all");
    const items = [];
    for await (const item of data ?? []) items.push(item.n);
    expect(items).toEqual([1, 2, 3]);
    const ticks = [];
    for await (const { n } of (await client.GET("/v1/items/ticks/all")).data ?? []) ticks.push(n);
    expect(ticks).toEqual([1, 2, 3]);
  });

  it("returns text as a string, and no data for a response without a body", async () => {
    expect((await client.GET("/v1/items/page/html")).data).toBe("<p>hi</p>");
    const gone = await client.DELETE("/v1/items/{item_id}", { params: { path: { item_id: 1 } } });
    expect(gone.data).toBeUndefined();
    expect(gone.response.status).toBe(204);
  });

  it("returns empty text and bytes by their media types", async () => {
    const empty = new App();
    const read = {
      text: empty.get("/text", async () => new HTMLResponse("")),
      bytes: empty.get("/bytes", async () => new Response(new Uint8Array(), { mediaType: "application/octet-stream" })),
      items: empty.get("/items", async function* (): AsyncGenerator<number> {}),
    };
    const own = createClient<ApiOf<typeof read>>({ fetch: empty.fetch });
    expect((await own.GET("/text")).data).toBe("");
    expect((await own.GET("/bytes")).data).toMatchObject({ size: 0, type: "application/octet-stream" });
    const items: number[] = [];
    for await (const item of (await own.GET("/items")).data ?? [0]) items.push(item);
    expect(items).toEqual([]);
  });

  it.each([
    ["without a body", null, { status: 502, statusText: "Bad Gateway" }, "Bad Gateway"],
    ["with an empty body", "", { status: 500, headers: { "content-type": "application/json" } }, "Status 500"],
    ["of no length", null, { status: 404, headers: { "content-length": "0" } }, "Status 404"],
  ])("returns an error with a detail for an error response %s", async (_, body, init, detail) => {
    const own = createClient<ApiOf<{ ping: typeof ping }>>({ fetch: async () => new globalThis.Response(body, init) });
    const { data, error } = await own.GET("/ping");
    expect(data).toBeUndefined();
    expect(error).toEqual({ detail });
  });

  it("returns an error for an error response to HEAD", async () => {
    const typed = new App();
    const read = { head: typed.head("/head", async () => Promise.reject<null>(new HTTPException(404))) };
    const own = createClient<ApiOf<typeof read>>({ fetch: typed.fetch });
    expect((await own.HEAD("/head")).error).toEqual({ detail: expect.any(String) });
  });

  it("reaches a route of several methods by each", async () => {
    expect((await client.GET("/v1/items/both/ways")).data).toBe("both");
    expect((await client.PUT("/v1/items/both/ways")).data).toBe("both");
  });

  it("runs openapi-fetch's middleware until it is taken away", async () => {
    const seen: string[] = [];
    const watch = { onRequest: ({ request }: { request: Request }) => void seen.push(new URL(request.url).pathname) };
    client.use(watch);
    await client.GET("/ping");
    client.eject(watch);
    await client.GET("/ping");
    expect(seen).toEqual(["/ping"]);
  });
});
