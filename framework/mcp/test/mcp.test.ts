import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it } from "@jest/globals";

import {
  App,
  type AppOptions,
  type ASGIApp,
  Cookie,
  Depends,
  File,
  Form,
  Header,
  HTTPException,
  Path,
  Query,
  Request,
  Router,
  Security,
  SecurityScopes,
  t,
  type TSchema,
  withParams,
} from "tsgi";
import { mcp, type McpOptions } from "../src/index.js";
import { rateLimit } from "tsgi/middleware";
import { Deferred } from "../../core/src/common/promises.js";
import { serve } from "tsgi/node";
import { APIKeyHeader, APIKeyQuery, OAuth2PasswordBearer } from "tsgi/security";
import { KeptLog } from "../../test/support/kept-log.js";

const Item = t.Object({ id: t.Integer(), name: t.String(), note: t.Union([t.String(), t.Null()]) }, { $id: "Item" });

type Headers = Record<string, string>;

/** Little time for connections that clients keep. */
const SERVED = { port: 0, signals: false, shutdownTimeoutMs: 1_000, logger: new KeptLog() } as const;

/** Serves an App whose tools are offered, for the time of a test. */
async function start(app: App, options: McpOptions = {}) {
  app.includeRouter(mcp(app, options));
  const server = await serve(app, SERVED);
  return { endpoint: new URL(options.path ?? "/mcp", server.url).href, [Symbol.asyncDispose]: () => server.close() };
}

type Era = "legacy" | "modern";

/** Connects the official client. */
async function connect(endpoint: string, headers: Headers = {}, era: Era = "modern") {
  const mode = era === "modern" ? { pin: "2026-07-28" } : "legacy";
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(endpoint), { requestInit: { headers } }));
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

type Dependencies = readonly ReturnType<typeof Depends>[];

/** Includes a router and returns what includes it. */
function including<Outer extends App | Router>(
  outer: Outer,
  inner: Router,
  options: { dependencies?: Dependencies } = {},
) {
  outer.includeRouter(inner, options);
  return outer;
}

const namesOf = ({ tools }: { tools: { name: string }[] }) => tools.map(({ name }) => name);

const textsOf = ({ content }: { content: unknown[] }) => content.map((block) => (block as { text: string }).text);

const post = (endpoint: string, body: unknown, headers: Headers = {}) =>
  fetch(endpoint, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

/** A request of the protocol 2026-07-28. */
function postModern(
  endpoint: string,
  method: string,
  params: { name?: string; [member: string]: unknown },
  headers: Headers = {},
) {
  const version = "2026-07-28";
  const meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const standard = { "mcp-protocol-version": version, "mcp-method": method, "mcp-name": params.name ?? "" };
  const body = { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } };
  return post(endpoint, body, { ...standard, ...headers });
}

const listRequest = { jsonrpc: "2.0", id: 1, method: "tools/list" };

function createItems() {
  const app = new App({ title: "Items", version: "2.0.0", logger: new KeptLog() });
  app.get(
    "/items/{item_id}",
    { params: { item_id: t.Integer({ minimum: 1 }), q: Query(t.Optional(t.String())) }, returns: Item, mcp: true },
    async ({ item_id, q }) => {
      if (item_id === 404) throw new HTTPException(404, "No such item");
      return { id: item_id, name: q ?? "one", note: null, secret: "cut" };
    },
  );
  app.post(
    "/items",
    {
      params: {
        item: t.Object({ name: t.String({ maxLength: 20 }), tags: t.Array(t.String()) }),
        dry: Query(t.Boolean({ default: false })),
      },
      statusCode: 201,
      summary: "Add an item",
      mcp: { name: "add_item", description: "Adds one item." },
    },
    async ({ item, dry }) => ({ ...item, dry }),
  );
  app.get("/hidden", async () => "hidden");
  return app;
}

describe.each<Era>(["modern", "legacy"])("mcp, to the official client of the %s protocol", (era) => {
  it("offers only the routes that enable it, with their schemas", async () => {
    await using server = await start(createItems());
    await using client = await connect(server.endpoint, {}, era);
    const { tools } = await client.listTools();
    expect(client.getServerVersion()).toMatchObject({ name: "Items", version: "2.0.0" });
    expect(tools).toMatchObject([
      {
        name: "getItemsByItemId",
        annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
        inputSchema: {
          type: "object",
          properties: { item_id: { type: "integer", minimum: 1 }, q: { type: "string" } },
          required: ["item_id"],
          additionalProperties: false,
        },
        outputSchema: {
          type: "object",
          properties: { id: { type: "integer" }, note: { anyOf: [{ type: "string" }, { type: "null" }] } },
          required: ["id", "name", "note"],
        },
      },
      {
        name: "add_item",
        title: "Add an item",
        description: "Adds one item.",
        inputSchema: {
          properties: {
            dry: { type: "boolean", default: false },
            item: {
              type: "object",
              properties: { name: { type: "string", maxLength: 20 } },
              required: ["name", "tags"],
            },
          },
          required: ["item"],
        },
      },
    ]);
    expect(tools[1]?.outputSchema).toBeUndefined();
  });

  it("calls a route with its arguments, and returns the filtered result as structured content", async () => {
    await using server = await start(createItems());
    await using client = await connect(server.endpoint, {}, era);
    const read = await client.callTool({ name: "getItemsByItemId", arguments: { item_id: 7, q: "a b&c=ü" } });
    expect(read.isError).toBeFalsy();
    expect(read.structuredContent).toEqual({ id: 7, name: "a b&c=ü", note: null });
    expect(JSON.parse((read.content[0] as { text: string }).text)).toEqual(read.structuredContent);
    const added = await client.callTool({
      name: "add_item",
      arguments: { item: { name: "x", tags: ["a"] }, dry: true },
    });
    expect(added.structuredContent).toEqual({ name: "x", tags: ["a"], dry: true });
  });

  it("returns an error as text, without structured content, which would have to match the output schema", async () => {
    await using server = await start(createItems());
    await using client = await connect(server.endpoint, {}, era);
    const call = (args: Record<string, unknown>) => client.callTool({ name: "getItemsByItemId", arguments: args });
    const errors = [await call({ item_id: 0 }), await call({ item_id: 404 }), await call({ item_id: 1, x: 1 })];
    expect(errors.map(({ isError, structuredContent }) => [isError, structuredContent])).toEqual(
      errors.map(() => [true, undefined]),
    );
    expect(errors.map(textsOf)).toEqual([
      [
        expect.stringMatching(/^422 Unprocessable Entity: path\.item_id: Input should be /),
        expect.stringMatching(/^\{"detail":\[\{"type":"greater_than_equal","loc":\["path","item_id"\],/),
      ],
      ["404 Not Found: No such item", '{"detail":"No such item"}'],
      [
        "422 Unprocessable Entity: arguments.x: Unknown argument",
        '{"detail":[{"type":"extra_forbidden","loc":["arguments","x"],"msg":"Unknown argument"}]}',
      ],
    ]);
  });

  it("announces only the capabilities that it serves", async () => {
    await using server = await start(createItems());
    await using client = await connect(server.endpoint, {}, era);
    expect(client.getServerCapabilities()).toEqual({ tools: { listChanged: false } });
  });

  it("sends each item of a stream as progress to a caller who requests it, and all of them at the end", async () => {
    const app = new App({ logger: new KeptLog() });
    const events = { params: { count: t.Integer() }, stream: "sse", mcp: { name: "events" } } as const;
    app.get("/events", events, async function* ({ count }) {
      for (let id = 0; id < count; id++) yield { id };
    });
    app.get("/lines", { params: { count: t.Integer() }, mcp: { name: "lines" } }, async function* ({ count }) {
      for (let id = 0; id < count; id++) yield { id };
    });
    await using server = await start(app);
    await using client = await connect(server.endpoint, {}, era);
    for (const name of ["events", "lines"]) {
      const seen: unknown[] = [];
      const onprogress = ({ progress, message }: { progress: number; message?: string }) =>
        seen.push([progress, message]);
      const result = await client.callTool({ name, arguments: { count: 3 } }, { onprogress });
      expect(seen).toEqual([0, 1, 2].map((id) => [id + 1, JSON.stringify({ id })]));
      expect(result.structuredContent).toEqual({ items: [{ id: 0 }, { id: 1 }, { id: 2 }] });
      const silent = await client.callTool({ name, arguments: { count: 1 } });
      expect(silent.structuredContent).toEqual({ items: [{ id: 0 }] });
    }
  });
});

const oauth2 = new OAuth2PasswordBearer({ tokenUrl: "/token", scopes: { read: "Read", write: "Write" } });
const SCOPES: Readonly<Record<string, string[]>> = { reader: ["read"], writer: ["read", "write"] };

const currentUser = withParams({ token: Depends(oauth2), asked: SecurityScopes }, async ({ token, asked }) => {
  const owned = Object.hasOwn(SCOPES, token) ? SCOPES[token] : undefined;
  if (owned === undefined) throw new HTTPException(401, "Unknown token", { headers: { "WWW-Authenticate": "Bearer" } });
  if (!asked.scopes.every((scope) => owned.includes(scope))) throw new HTTPException(403, "Not enough scopes");
  return token;
});

class ForbiddenError extends Error {}

/** Tools behind each kind of guard; `ran` lists what listing has run. */
function createGuarded(options: AppOptions = {}) {
  const ran: string[] = [];
  const app = new App({ logger: new KeptLog(), ...options });
  app.exceptionHandler(ForbiddenError, async () => Response.json({ detail: "No" }, { status: 403 }));
  const session = async function* () {
    ran.push("open");
    yield "session";
    ran.push("close");
  };
  const user = withParams(
    { user: Security(currentUser, { scopes: ["write"] }), session: Depends(session) },
    async (args) => args.user,
  );
  const isOwner = withParams({ item_id: Path() }, async ({ item_id }) => {
    ran.push("isOwner");
    if (item_id !== "mine") throw new HTTPException(403);
  });
  const router = new Router({ prefix: "/admin", dependencies: [Depends(user)] });
  router.delete("/items/{item_id}", { mcp: { name: "delete" } }, async () => "deleted");
  app.get("/open", { mcp: { name: "open" } }, async () => "open");
  app.get(
    "/read",
    { params: { user: Security(currentUser, { scopes: ["read"] }) }, mcp: { name: "read" } },
    async ({ user: name }) => {
      ran.push("handler");
      return { name };
    },
  );
  app.get("/own/{item_id}", { dependencies: [Depends(isOwner)], mcp: { name: "own" } }, async () => "own");
  const refuse = async () => {
    throw new ForbiddenError();
  };
  app.get("/never", { dependencies: [Depends(refuse)], mcp: { name: "never" } }, async () => "never");
  const broken = async () => {
    throw new Error("The database is away");
  };
  app.get("/broken", { dependencies: [Depends(broken)], mcp: { name: "broken" } }, async () => "broken");
  app.includeRouter(router);
  return { app, ran };
}

describe("the list of tools", () => {
  it.each([
    [{}, ["open", "own", "broken"]],
    [{ authorization: "Bearer stranger" }, ["open", "own", "broken"]],
    [{ authorization: "Bearer reader" }, ["open", "read", "own", "broken"]],
    [{ authorization: "Bearer writer" }, ["open", "read", "own", "broken", "delete"]],
  ])("omits tools for which guards respond with 401 or 403 to a caller with %j", async (headers, names) => {
    await using server = await start(createGuarded().app);
    await using client = await connect(server.endpoint, headers);
    expect(namesOf(await client.listTools())).toEqual(names);
  });

  it.each<[string, AppOptions]>([
    ["runs guards to their end, and no handler and no guard of the single item", {}],
    ["runs the same in an App that is observed", { instrumentation: { start: () => ({ step: () => () => {} }) } }],
  ])("%s", async (_what, options) => {
    const { app, ran } = createGuarded(options);
    await using server = await start(app);
    await using client = await connect(server.endpoint, { authorization: "Bearer writer" });
    await client.listTools();
    expect(ran).toEqual(["open", "close"]);
  });

  it("rejects the call of an omitted tool, as the route does", async () => {
    await using server = await start(createGuarded().app);
    await using client = await connect(server.endpoint, { authorization: "Bearer reader" });
    const refused = await client.callTool({ name: "delete", arguments: { item_id: "1" } });
    expect([refused.isError, ...textsOf(refused)]).toEqual([
      true,
      "403 Forbidden: Not enough scopes",
      '{"detail":"Not enough scopes"}',
    ]);
    const allowed = await client.callTool({ name: "read" });
    expect(allowed.structuredContent).toEqual({ name: "reader" });
  });

  it.each<[string, (tools: Router, dependencies: Dependencies) => App]>([
    ["the App", (tools, dependencies) => including(new App({ logger: new KeptLog(), dependencies }), tools)],
    ["includeRouter", (tools, dependencies) => including(new App({ logger: new KeptLog() }), tools, { dependencies })],
    [
      "an outer router",
      (tools, dependencies) =>
        including(new App({ logger: new KeptLog() }), including(new Router({ dependencies }), tools)),
    ],
  ])("omits tools, and rejects their calls, because of dependencies of %s", async (_, build) => {
    const tools = new Router();
    tools.get("/secret", { mcp: { name: "secret" } }, async () => "secret");
    const guard = withParams({ key: Header({ alias: "x-key", default: null }) }, async ({ key }) => {
      if (key === null) throw new HTTPException(403);
    });
    const app = build(tools, [Depends(guard)]);
    const outer = new App({ logger: new KeptLog() });
    outer.includeRouter(mcp(app));
    outer.mount("/api", app);
    await using server = await serve(outer, SERVED);
    await using stranger = await connect(`${server.url}/mcp`);
    expect(namesOf(await stranger.listTools())).toEqual([]);
    const refused = await stranger.callTool({ name: "secret" });
    expect([refused.isError, textsOf(refused)[0]]).toEqual([true, "403 Forbidden: Forbidden"]);
    await using known = await connect(`${server.url}/mcp`, { "x-key": "1" });
    expect((await known.callTool({ name: "secret" })).isError).toBeFalsy();
  });

  it("takes overrides of dependencies, as every request does", async () => {
    const { app } = createGuarded();
    app.dependencyOverrides.set(currentUser, async () => "tester");
    await using server = await start(app);
    await using client = await connect(server.endpoint);
    expect(namesOf(await client.listTools())).toEqual(["open", "read", "own", "broken", "delete"]);
  });
});

describe("a call of a tool", () => {
  const echo = async ({ request }: { request: Request }) => ({
    method: request.method,
    path: request.path,
    query: Object.fromEntries(request.queryParams),
    cookies: { ...request.cookies },
    headers: { ...request.headers },
    client: request.client?.host,
  });

  it("has the caller's credentials, address and tracing headers, but no headers about the caller's message", async () => {
    const app = new App({ logger: new KeptLog() });
    const key = new APIKeyHeader({ name: "X-Key" });
    const queryKey = new APIKeyQuery({ name: "key" });
    app.get(
      "/echo",
      { params: { request: Request, key: Depends(key), query: Depends(queryKey) }, mcp: { name: "echo" } },
      echo,
    );
    await using server = await start(app);
    const sent = {
      authorization: "Bearer a",
      cookie: "session=s",
      "x-key": "k",
      traceparent: "00-1",
      "if-match": '"x"',
    };
    await using client = await connect(`${server.endpoint}?key=q&other=1`, sent);
    const { structuredContent } = await client.callTool({ name: "echo" });
    expect(structuredContent).toMatchObject({ client: "127.0.0.1", query: { key: "q" }, cookies: { session: "s" } });
    const { headers } = structuredContent as { headers: Headers };
    expect(headers).toMatchObject({ authorization: "Bearer a", "x-key": "k", traceparent: "00-1" });
    const [{ host }, ...others] = [headers, Object.keys(headers)];
    expect(host).toBe(new URL(server.endpoint).host);
    expect(others.flat().toSorted()).toEqual(["authorization", "cookie", "host", "traceparent", "x-key"]);
  });

  it("accepts arguments for every source by parameter name, and cannot override headers of the caller", async () => {
    const app = new App({ logger: new KeptLog() });
    const params = {
      request: Request,
      id: Path({ alias: "item_id" }),
      tag: Query(t.Array(t.String())),
      x_tenant: Header(),
      authorization: Header({ default: null }),
      theme: Cookie({ default: "light" }),
      session: Cookie({ default: null }),
      filter: Query(t.Object({ limit: t.Integer({ default: 5 }), sort: t.Optional(t.String()) })),
    };
    app.get("/items/{item_id}", { params, mcp: { name: "get" } }, async ({ request, ...args }) => ({
      ...args,
      path: request.path,
    }));
    await using server = await start(app);
    await using client = await connect(server.endpoint, { cookie: "session=mine", authorization: "Bearer mine" });
    const { tools } = await client.listTools();
    expect(Object.keys(tools[0]?.inputSchema.properties ?? {})).toEqual([
      "id",
      "tag",
      "limit",
      "sort",
      "x_tenant",
      "theme",
      "session",
    ]);
    const args = { id: "a/b", tag: ["x", "y"], limit: 3, x_tenant: "acme", theme: "da;rk=", session: "stolen" };
    const { structuredContent } = await client.callTool({ name: "get", arguments: args });
    expect(structuredContent).toEqual({
      item_id: "a/b",
      id: "a/b",
      tag: ["x", "y"],
      x_tenant: "acme",
      theme: "da;rk=",
      session: "mine",
      authorization: "Bearer mine",
      filter: { limit: 3 },
      path: "/items/a%2Fb",
    });
    const foreign = await client.callTool({ name: "get", arguments: { ...args, authorization: "Bearer stolen" } });
    expect(textsOf(foreign)[0]).toBe("422 Unprocessable Entity: arguments.authorization: Unknown argument");
  });

  it("sends bodies whole, in members and as forms", async () => {
    const app = new App({ logger: new KeptLog() });
    const [A, B] = [t.Object({ a: t.Integer() }), t.Object({ b: t.Integer() })];
    app.post("/two", { params: { first: A, second: B }, mcp: { name: "two" } }, async (args) => args);
    app.post(
      "/form",
      { params: { login: Form(t.Object({ user: t.String(), age: t.Integer() })) }, mcp: { name: "form" } },
      async (args) => args,
    );
    app.put(
      "/fields",
      { params: { user: Form(), tags: Form(t.Array(t.String())) }, mcp: { name: "fields" } },
      async (args) => args,
    );
    app.patch(
      "/list",
      { params: { body: t.Optional(t.Object({ x: t.Any() })) }, mcp: { name: "list" } },
      async ({ body }) => ({ body: body ?? "none" }),
    );
    await using server = await start(app);
    await using client = await connect(server.endpoint);
    const cases: [name: string, args: Record<string, unknown>, result: unknown][] = [
      ["two", { first: { a: 1 }, second: { b: 2 } }, { first: { a: 1 }, second: { b: 2 } }],
      ["form", { login: { user: "a&b", age: 3 } }, { login: { user: "a&b", age: 3 } }],
      ["fields", { user: "u", tags: ["x", "y"] }, { user: "u", tags: ["x", "y"] }],
      ["list", { body: { x: [null] } }, { body: { x: [null] } }],
      ["list", {}, { body: "none" }],
    ];
    for (const [name, args, result] of cases) {
      expect((await client.callTool({ name, arguments: args })).structuredContent).toEqual(result);
    }
  });

  it("passes the middleware of the application, and counts for its limits", async () => {
    const app = createItems();
    app.addMiddleware(rateLimit({ limit: 4, windowSeconds: 3_600 }));
    await using server = await start(app);
    await using client = await connect(server.endpoint); // one request
    const args = { name: "getItemsByItemId", arguments: { item_id: 1 } };
    expect((await client.callTool(args)).isError).toBeFalsy(); // two more
    expect(textsOf(await client.callTool(args))[0]).toMatch(/^429 /);
  });

  it("keeps the state of the server and the prefix of a mount", async () => {
    const inner = new App({ logger: new KeptLog() });
    inner.get("/where", { params: { request: Request }, mcp: { name: "where" } }, async ({ request }) => {
      const { path, root_path } = request.scope;
      return { path, root_path, started: request.state["started"] };
    });
    inner.includeRouter(mcp(inner));
    const app = new App({
      logger: new KeptLog(),
      async *lifespan() {
        yield { started: true };
      },
    });
    app.mount("/v1", inner);
    await using server = await serve(app, SERVED);
    await using client = await connect(`${server.url}/v1/mcp`);
    const { structuredContent } = await client.callTool({ name: "where" });
    expect(structuredContent).toEqual({ path: "/v1/where", root_path: "/v1", started: true });
  });

  it.each<[string, (inner: App, outer: App) => void, endpoint: string, path: string]>([
    ["mounted", (inner, outer) => outer.mount("/v1", inner), "/v1/mcp", "/v1/where"],
    [
      "mounted by a router in a mounted App",
      (inner, outer) => {
        const middle = new App({ logger: new KeptLog() });
        const router = new Router({ prefix: "/deep" });
        router.mount("/v1", inner);
        middle.includeRouter(router);
        outer.mount("/a b", middle);
      },
      "/a%20b/deep/v1/mcp",
      "/a b/deep/v1/where",
    ],
    [
      "mounted inside a function",
      (inner, outer) => outer.mount("/v1", (scope, receive, send) => inner(scope, receive, send)),
      "/v1/mcp",
      "/v1/where",
    ],
    [
      "mounted twice",
      (inner, outer) => {
        outer.mount("/v1", inner);
        outer.mount("/v2", inner);
      },
      "/v2/mcp",
      "/v2/where",
    ],
    [
      "mounted by the App of the endpoint",
      (inner, outer) => {
        const middle = new App({ logger: new KeptLog() });
        middle.mount("/v1", inner);
        outer.mount("/in", middle);
        outer.includeRouter(mcp(inner, { path: "/tools" }));
      },
      "/tools",
      "/in/v1/where",
    ],
  ])("of an App that is %s passes the middleware of the outermost App", async (_, mount, endpoint, path) => {
    const inner = new App({ logger: new KeptLog() });
    inner.get("/where", { params: { request: Request }, mcp: { name: "where" } }, async ({ request }) => {
      return { path: request.scope.path, local: request.scope.path.slice(request.scope.root_path?.length) };
    });
    inner.includeRouter(mcp(inner));
    const outer = new App({ logger: new KeptLog() });
    const seen: string[] = [];
    const locked =
      (app: ASGIApp): ASGIApp =>
      (scope, receive, send) => {
        if (scope.type !== "lifespan") seen.push(scope.path);
        return app(scope, receive, send);
      };
    outer.addMiddleware(rateLimit({ limit: 4, windowSeconds: 3_600 }));
    outer.addMiddleware(locked);
    mount(inner, outer);
    await using server = await serve(outer, SERVED);
    await using client = await connect(new URL(endpoint, server.url).href); // one request
    const { structuredContent } = await client.callTool({ name: "where" }); // two more
    expect(structuredContent).toEqual({ path, local: "/where" });
    expect(seen.at(-1)).toBe(path);
    expect(textsOf(await client.callTool({ name: "where" }))[0]).toMatch(/^429 /);
  });

  it("of an App that the App of the endpoint does not mount is made without it", async () => {
    const inner = new App({ logger: new KeptLog() });
    inner.get(
      "/where",
      { params: { request: Request }, mcp: { name: "where" } },
      async ({ request }) => request.scope.path,
    );
    const outer = new App({ logger: new KeptLog() });
    outer.includeRouter(mcp(inner));
    await using server = await serve(outer, SERVED);
    await using client = await connect(`${server.url}/mcp`);
    expect((await client.callTool({ name: "where" })).content).toEqual([{ type: "text", text: "/where" }]);
  });

  it("keeps the root_path of a server that its paths do not contain", async () => {
    const inner = new App({ logger: new KeptLog() });
    inner.get("/where", { params: { request: Request }, mcp: { name: "where" } }, async ({ request }) => {
      const { path, root_path } = request.scope;
      return { path, root_path };
    });
    inner.includeRouter(mcp(inner));
    const outer = new App({ logger: new KeptLog() });
    outer.mount("/v1", inner);
    const behind: ASGIApp = (scope, receive, send) =>
      outer(scope.type === "lifespan" ? scope : { ...scope, root_path: "/proxy" }, receive, send);
    await using server = await serve(behind, SERVED);
    await using client = await connect(`${server.url}/v1/mcp`);
    const { structuredContent } = await client.callTool({ name: "where" });
    expect(structuredContent).toEqual({ path: "/proxy/v1/where", root_path: "/proxy/v1" });
  });

  it.each<Era>(["modern", "legacy"])("is aborted with the request of its caller, in the %s protocol", async (era) => {
    const app = new App({ logger: new KeptLog() });
    const [began, ended] = [new Deferred<void>(), new Deferred<void>()];
    app.get("/wait", { params: { request: Request }, mcp: { name: "wait" } }, async ({ request }) => {
      request.signal.addEventListener("abort", () => ended.resolve());
      began.resolve();
      await ended.promise;
      return "late";
    });
    await using server = await start(app);
    await using client = await connect(server.endpoint, {}, era);
    const stop = new AbortController();
    const call = client.callTool({ name: "wait" }, { signal: stop.signal });
    await began.promise;
    if (era === "modern") stop.abort();
    else await client.close();
    await expect(call).rejects.toBeInstanceOf(Error);
    await ended.promise;
  });

  it("returns text unchanged, a status without a body, a redirect as an error, and rejects a long response", async () => {
    const app = new App({ logger: new KeptLog() });
    app.get("/text", { mcp: { name: "text" } }, async () => new Response("plain"));
    app.get("/list", { mcp: { name: "list" } }, async () => [1, 2]);
    app.delete("/none", { statusCode: 204, mcp: { name: "none" } }, async () => undefined);
    app.get("/moved", { mcp: { name: "moved" } }, async () => Response.redirect("http://localhost/else", 303));
    app.get("/long", { mcp: { name: "long" } }, async () => "x".repeat(200));
    app.get("/endless", { mcp: { name: "endless" } }, async function* () {
      for (;;) yield { x: "x".repeat(30) };
    });
    await using server = await start(app, { maxResultBytes: 100 });
    await using client = await connect(server.endpoint);
    const textOf = async (name: string) => {
      const { content, isError } = await client.callTool({ name });
      return `${isError ? "error: " : ""}${(content[0] as { text: string }).text}`;
    };
    expect(await textOf("text")).toBe("plain");
    expect(await textOf("list")).toBe("[1,2]");
    expect(await textOf("none")).toBe("204 No Content");
    expect(await textOf("moved")).toBe("error: 303 See Other: http://localhost/else");
    expect(await textOf("long")).toBe("error: 500 Internal Server Error: The response has more than 100 bytes.");
    expect(await textOf("endless")).toBe("error: 500 Internal Server Error: The response has more than 100 bytes.");
  });
});

describe("a response that is not JSON", () => {
  const bytes = new Uint8Array([0x00, 0xff, 0x80]);

  it.each([
    ["a picture", "image/png", { type: "image", data: "AP+A", mimeType: "image/png" }],
    ["a picture that is XML", "image/svg+xml", { type: "image", data: "AP+A", mimeType: "image/svg+xml" }],
    ["a sound", "audio/wav; rate=8000", { type: "audio", data: "AP+A", mimeType: "audio/wav" }],
    [
      "another type, without the query, which may have a key",
      "application/zip",
      {
        type: "resource",
        resource: {
          uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/files\/a%20b$/),
          mimeType: "application/zip",
          blob: "AP+A",
        },
      },
    ],
  ])("is content in base64: %s", async (_, type, content) => {
    const app = new App({ logger: new KeptLog() });
    const file = { params: { name: t.String(), v: Query(t.Integer()) }, mcp: { name: "file" } } as const;
    app.get("/files/{name}", file, async () => new Response(bytes, { headers: { "content-type": type } }));
    await using server = await start(app);
    await using client = await connect(server.endpoint);
    const result = await client.callTool({ name: "file", arguments: { name: "a b", v: 1 } });
    expect(result.content).toEqual([content]);
    expect(result).not.toHaveProperty("structuredContent");
  });

  it("is text if it is a text document or has no type", async () => {
    const app = new App({ logger: new KeptLog() });
    const headers = { "content-type": "application/atom+xml" };
    app.get("/feed", { mcp: { name: "feed" } }, async () => new Response("<feed/>", { headers }));
    app.get("/bare", { mcp: { name: "bare" } }, async () => new Response(new TextEncoder().encode("bare")));
    await using server = await start(app);
    await using client = await connect(server.endpoint);
    expect((await client.callTool({ name: "feed" })).content).toEqual([{ type: "text", text: "<feed/>" }]);
    expect((await client.callTool({ name: "bare" })).content).toEqual([{ type: "text", text: "bare" }]);
  });
});

describe("a hostile agent", () => {
  it("sends arrays in every place as the route reads them", async () => {
    const app = new App({ logger: new KeptLog() });
    const params = {
      ids: Path(t.Array(t.String())),
      tags: Query(t.Array(t.String())),
      counts: Header(t.Array(t.Integer())),
      flags: Cookie(t.Array(t.Boolean())),
    };
    app.get("/items/{ids}", { params, mcp: { name: "get" } }, async (given) => given);
    await using server = await start(app);
    await using client = await connect(server.endpoint);
    const args = { ids: ["a,b", "c/d"], tags: ["x,y", "z"], counts: [1, 2], flags: [true, false] };
    expect(await client.callTool({ name: "get", arguments: args })).toMatchObject({ structuredContent: args });
  });

  it.each<[what: string, args: Record<string, unknown>, loc: unknown[]]>([
    ["a dot segment as a path parameter", { name: ".." }, ["path", "name"]],
    ["an empty path parameter", { name: "" }, ["path", "name"]],
    ["a lone surrogate in a path", { name: "\ud800" }, ["path", "name"]],
    ["no path parameter", {}, ["path", "name"]],
    ["null as a path parameter", { name: null }, ["path", "name"]],
    ["a line break in a header", { name: "a", x_note: "a\r\nx-admin: 1" }, ["header", "x-note"]],
    ["a header beyond latin-1", { name: "a", x_note: "→" }, ["header", "x-note"]],
    ["an argument that is unknown", { name: "a", admin: true }, ["arguments", "admin"]],
    ["an argument that every object has", { name: "a", constructor: "b" }, ["arguments", "constructor"]],
    ["an object in the place of a number", { name: "a", limit: { $gt: 0 } }, ["query", "limit"]],
    ["a body of a wrong type", { name: "a", item: "text" }, ["body"]],
  ])("gets an error for %s", async (_, args, loc) => {
    const app = new App({ logger: new KeptLog() });
    const params = {
      name: Path(),
      x_note: Header({ default: "" }),
      limit: Query(t.Integer({ default: 1 })),
      item: t.Optional(t.Object({ a: t.Integer() })),
    };
    app.post("/items/{name}", { params, mcp: { name: "post" } }, async (given) => given);
    app.post("/", async () => "root");
    await using server = await start(app);
    await using client = await connect(server.endpoint);
    const result = await client.callTool({ name: "post", arguments: args });
    const [line, json = ""] = textsOf(result);
    expect([result.isError, line]).toEqual([true, expect.stringMatching(/^422 /)]);
    const { detail } = JSON.parse(json) as { detail: { loc: unknown[] }[] };
    expect(detail[0]?.loc).toEqual(loc);
  });

  it("cannot set a prototype by an argument", async () => {
    const app = new App({ logger: new KeptLog() });
    app.get("/a", { params: { q: Query({ default: "none" }) }, mcp: { name: "a" } }, async ({ q }) => ({ q }));
    await using server = await start(app);
    const text = '{ "q": "a", "__proto__": { "q": "b", "isAdmin": true } }';
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "a", arguments: {} } };
    const response = await post(server.endpoint, JSON.stringify(call).replace('"arguments":{}', `"arguments":${text}`));
    expect(await response.text()).toMatch(/"q":"a"|Unknown argument/);
    expect({}).not.toHaveProperty("isAdmin");
  });

  it("reaches no other route by a path parameter", async () => {
    const app = new App({ logger: new KeptLog() });
    app.get("/files/{name}", { mcp: { name: "read" } }, async ({ name }) => ({ name }));
    app.get("/secret", async () => ({ secret: true }));
    await using server = await start(app);
    await using client = await connect(server.endpoint);
    for (const name of ["../secret", "..%2Fsecret", "%2e%2e/secret", "a?b#c", "\\..\\secret", "a\u0000b"]) {
      const result = await client.callTool({ name: "read", arguments: { name } });
      expect(result.structuredContent).toEqual({ name });
    }
  });

  it.each<[what: string, body: unknown, headers: Headers, status: number, message: string]>([
    ["a page of a foreign origin", listRequest, { origin: "http://evil.example" }, 403, "Origin is not allowed"],
    [
      "a page of the same host, which may be rebound",
      listRequest,
      { origin: "http://127.0.0.1" },
      403,
      "Origin is not allowed",
    ],
    ["a batch beyond the limit", Array.from({ length: 17 }, () => listRequest), {}, 400, "Over 16 messages"],
    [
      "JSON that is too deep",
      `${"[".repeat(500)}${"]".repeat(500)}`,
      {},
      400,
      "Parse error: the request body is not valid JSON",
    ],
    ["text that is not JSON", "{", {}, 400, "Parse error: the request body is not valid JSON"],
    [
      "a form",
      "a=b",
      { "content-type": "application/x-www-form-urlencoded" },
      415,
      "Unsupported Media Type: Content-Type must be application/json",
    ],
  ])("is rejected for %s", async (_, body, headers, status, message) => {
    await using server = await start(createItems());
    const response = await post(server.endpoint, body, headers);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ jsonrpc: "2.0", error: { message }, id: null });
  });

  it("is rejected for a body beyond the limit, a host that is not listed, and methods of sessions", async () => {
    await using server = await start(createItems(), { allowedHosts: ["127.0.0.1"] });
    expect((await post(server.endpoint, `"${"x".repeat(2 ** 20)}"`)).status).toBe(413);
    expect((await fetch(server.endpoint)).status).toBe(405);
    expect((await fetch(server.endpoint, { method: "DELETE" })).status).toBe(405);
    const elsewhere = await post(server.endpoint.replace("127.0.0.1", "localhost"), listRequest).catch(() => null);
    expect(elsewhere?.status).toBe(400);
  });

  it("opens no stream of subscriptions, which would stay open", async () => {
    await using server = await start(createItems());
    for (let times = 0; times < 20; times++) {
      const params = { notifications: { toolsListChanged: true } };
      const response = await postModern(server.endpoint, "subscriptions/listen", params);
      expect(response.headers.get("content-type")).toBe("application/json");
      expect(await response.json()).toMatchObject({ id: 1, error: { message: "Subscription limit reached" } });
    }
  });

  it("gets an error of the protocol for an unknown tool, and for arguments that are not an object", async () => {
    await using server = await start(createItems());
    await using client = await connect(server.endpoint);
    await expect(client.callTool({ name: "constructor" })).rejects.toThrow("Unknown tool constructor");
    await expect(client.callTool({ name: "add_item", arguments: [1] as never })).rejects.toThrow(/arguments|params/);
  });

  it("lets a page in whose origin is listed", async () => {
    await using server = await start(createItems(), { path: "/tools", allowedOrigins: ["https://inspector.example"] });
    await using client = await connect(server.endpoint, { origin: "https://inspector.example" });
    expect(namesOf(await client.listTools())).toEqual(["getItemsByItemId", "add_item"]);
  });
});

it("the metadata of the login is public, even if the App requires a login", async () => {
  const path = "/.well-known/oauth-protected-resource/mcp";
  const document = { resource: "https://api.example.com/mcp" };
  const auth = Object.assign(new APIKeyHeader({ name: "x-key" }), { resourceMetadata: { path, document } });
  const app = new App({ logger: new KeptLog(), dependencies: [Depends(auth)] });
  await using server = await start(app, { auth });
  expect(await (await fetch(new URL(path, server.endpoint))).json()).toEqual(document);
  expect((await post(server.endpoint, listRequest)).status).toBe(401);
});

describe("an argument that clients repeat in a header (SEP-2243)", () => {
  const mirrored = (name: string) => ({ "x-mcp-header": name });

  function createRegions() {
    const app = new App({ logger: new KeptLog() });
    const params = {
      region: Query(t.String(mirrored("Region"))),
      item: t.Object({ size: t.Optional(t.Integer(mirrored("Size"))) }),
    };
    app.post("/items", { params, mcp: { name: "add" } }, async ({ region, item }) => ({ region, ...item }));
    return app;
  }

  it("is listed, sent by the official client, and compared with the header", async () => {
    await using server = await start(createRegions());
    await using client = await connect(server.endpoint);
    const { tools } = await client.listTools();
    expect(tools[0]?.inputSchema.properties).toMatchObject({ region: mirrored("Region") });
    const args = { region: "münchen", item: { size: 3 } };
    const added = await client.callTool({ name: "add", arguments: args });
    expect(added.structuredContent).toEqual({ region: "münchen", size: 3 });
    await using older = await connect(server.endpoint, {}, "legacy");
    expect((await older.callTool({ name: "add", arguments: args })).structuredContent).toEqual(added.structuredContent);
  });

  it.each<[what: string, headers: Headers, status: number]>([
    ["a header of the same value", { "mcp-param-region": "eu", "mcp-param-size": "3.0" }, 200],
    ["no header", { "mcp-param-size": "3" }, 400],
    ["a header of another value", { "mcp-param-region": "us", "mcp-param-size": "3" }, 400],
    ["a header of another value, in an object", { "mcp-param-region": "eu", "mcp-param-size": "4" }, 400],
    ["a header that is not Base64", { "mcp-param-region": "=?base64?ä?=", "mcp-param-size": "3" }, 400],
  ])("with %s results in the right status", async (_, headers, status) => {
    await using server = await start(createRegions());
    const args = { region: "eu", item: { size: 3 } };
    const response = await postModern(server.endpoint, "tools/call", { name: "add", arguments: args }, headers);
    const { error, result } = (await response.json()) as { error?: { code: number }; result?: unknown };
    expect([response.status, error?.code]).toEqual(status === 200 ? [200, undefined] : [400, -32_020]);
    if (status === 200) expect(result).toMatchObject({ structuredContent: { region: "eu", size: 3 } });
  });

  const Region = t.Object({ region: t.String(mirrored("Region")) });

  it.each<[what: string, schema: TSchema]>([
    ["in an array", t.Array(Region)],
    ["in a union", t.Object({ one: t.Union([Region, t.Null()]) })],
    ["in a component", t.Object({ one: t.Object({ ...Region.properties }, { $id: "Region" }) })],
    ["on an object", t.Object({}, mirrored("Region"))],
    ["on a number", t.Object({ one: t.Number(mirrored("Region")) })],
    ["twice, in another case", t.Object({ one: t.String(mirrored("A")), two: t.String(mirrored("a")) })],
    ["with a name that is not a token", t.Object({ one: t.String(mirrored("a b")) })],
    ["with a name that is not text", t.Object({ one: t.String({ "x-mcp-header": true }) })],
  ])("fails at startup %s, because clients reject the tool", async (_, item) => {
    const app = new App({ logger: new KeptLog() });
    app.post("/items", { params: { item }, mcp: { name: "add" } }, async () => null);
    await expect(start(app)).rejects.toThrow(/POST \/items: .*x-mcp-header/);
  });

  it("can have the name of the keyword itself", async () => {
    const app = new App({ logger: new KeptLog() });
    const item = t.Object({ "x-mcp-header": t.String() });
    app.post("/items", { params: { item }, mcp: { name: "add" } }, async (args) => args.item);
    await using server = await start(app);
    await using client = await connect(server.endpoint);
    const args = { item: { "x-mcp-header": "a" } };
    expect((await client.callTool({ name: "add", arguments: args })).structuredContent).toEqual(args.item);
  });
});

describe("an output schema", () => {
  it("is omitted if the route documents another successful response, which it would not match", async () => {
    const app = new App({ logger: new KeptLog() });
    const Pending = t.Object({ job: t.Integer() });
    app.get("/items", { returns: Item, responses: { 202: { schema: Pending } }, mcp: { name: "get" } }, async () => {
      return Response.json({ job: 1 }, { status: 202 });
    });
    await using server = await start(app);
    await using client = await connect(server.endpoint);
    expect((await client.listTools()).tools[0]).not.toHaveProperty("outputSchema");
    expect((await client.callTool({ name: "get" })).structuredContent).toEqual({ job: 1 });
  });
});

describe("mcp, at startup", () => {
  const item = async () => "item";

  it.each<[what: string, add: (app: App) => unknown, message: RegExp]>([
    [
      "a name that is none",
      (app) => app.get("/a", { mcp: { name: "a b" } }, item),
      /GET \/a: "a b" is not a name of a tool/,
    ],
    [
      "two tools of one name",
      (app) => [app.get("/a", { mcp: { name: "a" } }, item), app.get("/b", { mcp: { name: "a" } }, item)],
      /GET \/b: the tool "a" is GET \/a already/,
    ],
    ["files", (app) => app.post("/a", { params: { file: File() }, mcp: true }, item), /POST \/a: .* takes files/],
    [
      "a body of GET",
      (app) => app.get("/a", { params: { a: t.Object({ b: t.Integer() }) }, mcp: true }, item),
      /GET \/a: .* cannot send a body with GET/,
    ],
    ["TRACE", (app) => app.trace("/a", { mcp: true }, item), /TRACE \/a: a tool cannot call TRACE/],
  ])("rejects %s", async (_, add, message) => {
    const app = new App({ logger: new KeptLog() });
    add(app);
    await expect(start(app)).rejects.toThrow(message);
  });

  it("rejects options that cannot work", () => {
    const app = new App();
    expect(() => mcp(app, { allowedOrigins: ["example.com"] })).toThrow("allowedOrigins");
    expect(() => app.get("/", { mcp: "yes" as never }, item)).toThrow("mcp");
    expect(() => app.get("/", { mcp: { title: "x" } as never }, item)).toThrow("title");
  });

  it("offers a route that the document leaves out, and keeps its own out of the document", async () => {
    const app = new App({ logger: new KeptLog() });
    app.get("/internal", { includeInSchema: false, mcp: true }, item);
    await using server = await start(app);
    await using client = await connect(server.endpoint);
    expect(namesOf(await client.listTools())).toEqual(["getInternal"]);
    expect(app.openapi().paths).toEqual({});
  });
});
