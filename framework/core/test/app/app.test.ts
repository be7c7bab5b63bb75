import { execFile } from "node:child_process";
import { createServer, IncomingMessage, type RequestListener, ServerResponse, STATUS_CODES } from "node:http";
import { Socket } from "node:net";
import { promisify } from "node:util";
import { describe, expect, it } from "@jest/globals";
import type { ASGIApp, HTTPScope, Scope, SendMessage } from "../../src/protocol/asgi.js";
import {
  App,
  BackgroundTasks,
  ConfigurationError,
  Header,
  HTTPException,
  httpExceptionHandler,
  JSONResponse,
  type Middleware,
  PlainTextResponse,
  Query,
  Request,
  Response,
  Router,
  t,
} from "../../src/index.js";
import { serve } from "../../src/node.js";
import { describeMatrix } from "../../../test/support/matrix.js";
import { call as callInMemory } from "../../../test/support/call.js";
import { KeptLog } from "../../../test/support/kept-log.js";

const create = (options: ConstructorParameters<typeof App>[0] = {}) => {
  const log = new KeptLog();
  return { app: new App({ logger: log, ...options }), log };
};

/** Puts a header on every response, and notes what passes. */
const marking =
  (name: string, notes: string[] = []): Middleware =>
  (app) =>
  (scope, receive, send) => {
    notes.push(`${name} ${scope.type}`);
    return app(scope, receive, (message) =>
      send(
        message.type === "http.response.start"
          ? { ...message, headers: [...(message.headers ?? []), [Buffer.from(`x-${name}`), Buffer.from("yes")]] }
          : message,
      ),
    );
  };

/** Runs startup, `during`, and shutdown, as a server does. */
async function live(app: ASGIApp, during: () => Promise<void> = async () => {}): Promise<SendMessage[]> {
  const sent: SendMessage[] = [];
  const events = ["lifespan.startup", "lifespan.shutdown"] as const;
  let index = 0;
  await app(
    { type: "lifespan" },
    async () => {
      if (index === 1) await during();
      return { type: events[index++] as (typeof events)[number] };
    },
    (message) => void sent.push(message),
  );
  return sent;
}

describe("an App", () => {
  it("is the ASGI callable itself, and an instance of its class", async () => {
    const { app } = create();
    app.get("/", async () => "hello");
    expect(typeof app).toBe("function");
    expect(app).toBeInstanceOf(App);
    const sent: SendMessage[] = [];
    await app(
      { type: "http", method: "GET", path: "/" },
      () => Promise.reject(new Error()),
      (message) => void sent.push(message),
    );
    expect(sent.map(({ type }) => type)).toEqual(["http.response.start", "http.response.body"]);
  });

  it("rejects another scope type with a TypeError that contains it", async () => {
    const { app } = create();
    const scope = { type: "carrier-pigeon" } as unknown as Scope;
    await expect(
      app(
        scope,
        () => Promise.reject(new Error()),
        () => {},
      ),
    ).rejects.toThrow(TypeError);
    await expect(
      app(
        scope,
        () => Promise.reject(new Error()),
        () => {},
      ),
    ).rejects.toThrow(/"carrier-pigeon"/);
  });

  it("names toNodeHandler when it is handed to http.createServer by mistake", async () => {
    const { app } = create();
    const server = createServer(app as unknown as RequestListener);
    const [listener] = server.listeners("request") as ((...args: unknown[]) => Promise<void>)[];
    const incoming = new IncomingMessage(new Socket());
    await expect(listener?.apply(server, [incoming, new ServerResponse(incoming)])).rejects.toThrow(
      "http.createServer(toNodeHandler(app))",
    );
  });

  it("ends a program that hands it to http.createServer with a line that names toNodeHandler", async () => {
    const program = [
      'import http from "node:http";',
      `import { App } from ${JSON.stringify(new URL("../../dist/index.js", import.meta.url).href)};`,
      "const server = http.createServer(new App()).listen(0, '127.0.0.1', () => http.get({ host: '127.0.0.1', port: server.address().port }));",
    ].join("\n");
    const run = promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
    await expect(run).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("toNodeHandler(app)") });
  });

  it("has the methods of a function", async () => {
    const { app } = create();
    app.get("/", async () => "hello");
    const answer = await callInMemory(app.bind(null), "GET", "/");
    expect(answer.json).toBe("hello");
  });

  it("lists its routes with method, path, handler and metadata, tags of routers among them", () => {
    const { app } = create();
    const handler = async () => null;
    const router = new Router({ prefix: "/users", tags: ["users"] });
    router.get("/{id}", { tags: ["one"], summary: "One" }, handler);
    app.includeRouter(router, { prefix: "/v1", tags: ["v1"] });
    expect(app.routes).toMatchObject([
      { method: "GET", path: "/v1/users/{id}", handler, metadata: { tags: ["v1", "users", "one"], summary: "One" } },
    ]);
  });

  it("lists its routes in a list that cannot be changed, and that is the same until there is another", () => {
    const { app } = create();
    app.get("/a", async () => null);
    const { routes } = app;
    expect(app.routes).toBe(routes);
    expect(() => (routes as unknown[]).push({})).toThrow(TypeError);
    app.get("/b", async () => null);
    expect([routes, app.routes].map((list) => list.map(({ path }) => path))).toEqual([["/a"], ["/a", "/b"]]);
  });

  it("takes exception handlers as pairs, as a Map, and as a record by status", async () => {
    const answer = () => new PlainTextResponse("lost", { statusCode: 404 });
    const inits = [[[404, answer]], new Map([[404, answer]]), { 404: answer }] as const;
    for (const exceptionHandlers of inits) {
      expect((await callInMemory(create({ exceptionHandlers }).app, "GET", "/")).text).toBe("lost");
    }
    expect(() => create({ exceptionHandlers: { 200: answer } })).toThrow(ConfigurationError);
  });

  it("accepts the methods of a route in any case", async () => {
    const { app } = create();
    app.route("/a", { methods: ["get", "Post"] }, async () => "hello");
    expect(app.routes.map(({ method }) => method)).toEqual(["GET", "POST"]);
    expect((await callInMemory(app, "POST", "/a")).json).toBe("hello");
  });

  it("accepts a `send` that returns a value that is not a promise", async () => {
    const { app } = create();
    app.get("/", async () => null);
    const sent: SendMessage[] = [];
    const send = ((message: SendMessage) => sent.push(message)) as unknown as (message: SendMessage) => void;
    await app({ type: "http", method: "GET", path: "/" }, () => Promise.reject(new Error()), send);
    expect(sent).toHaveLength(2);
  });

  it("runs background tasks of the params and of a returned Response after it has been sent", async () => {
    const { app } = create();
    const notes: string[] = [];
    app.get("/", { params: { tasks: BackgroundTasks } }, async ({ tasks }) => {
      tasks.addTask(() => notes.push("param"));
      const background = new BackgroundTasks();
      background.addTask(() => notes.push("response"));
      return new Response("x", { background });
    });
    await app(
      { type: "http", method: "GET", path: "/" },
      () => Promise.reject(new Error()),
      ({ type }) => void notes.push(type),
    );
    expect(notes).toEqual(["http.response.start", "http.response.body", "param", "response"]);
  });
});

describeMatrix("an App", ({ call, keeps }) => {
  const verbs = ["get", "post", "put", "patch", "delete", "head", "options", "trace"] as const;
  it.each(verbs.filter((verb) => verb !== "trace" || keeps.trace))("has the verb %s", async (verb) => {
    const { app } = create();
    // The types of the verbs differ by their method, so that a union of them cannot be called.
    app[verb as "get"]("/", async () => verb);
    const answer = await call(app, verb.toUpperCase(), "/");
    expect(answer.status).toBe(200);
    expect(answer.text).toBe(verb === "head" ? "" : JSON.stringify(verb));
  });

  it("returns the handler from each form of registration", async () => {
    const { app } = create();
    const handler = async () => "x";
    expect(app.get("/a", handler)).toBe(handler);
    expect(app.get("/b", { tags: ["t"] }, handler)).toBe(handler);
    expect(app.get("/c", { tags: ["t"] })(handler)).toBe(handler);
    expect(app.get("/d")(handler)).toBe(handler);
    expect(app.route("/e", { methods: ["GET", "POST"] }, handler)).toBe(handler);
    for (const path of ["/a", "/b", "/c", "/d", "/e"]) expect((await call(app, "GET", path)).json).toBe("x");
    expect((await call(app, "POST", "/e")).json).toBe("x");
  });

  it("responds with 404, and with 405 and Allow", async () => {
    const { app } = create();
    app.get("/a/{id}", async () => null);
    app.delete("/a/{id}", async () => null);
    app.post("/a/b", async () => null);
    expect(await call(app, "GET", "/x")).toMatchObject({ status: 404, json: { detail: "Not Found" } });
    const answer = await call(app, "PUT", "/a/b");
    expect(answer).toMatchObject({ status: 405, json: { detail: "Method Not Allowed" } });
    expect(answer.headers["allow"]).toBe("DELETE, GET, HEAD, POST");
  });

  it("responds to HEAD with the GET route: the same start and one empty body", async () => {
    const { app } = create();
    app.get("/json", async () => ({ a: 1 }));
    app.get("/text", async () => new PlainTextResponse("hello"));
    for (const path of ["/json", "/text"]) {
      const got = await call(app, "GET", path);
      const head = await call(app, "HEAD", path);
      expect(head).toMatchObject({ status: got.status, headerLines: got.headerLines, text: "" });
      expect(head.headerLines).toHaveLength(got.headerLines.length);
    }
  });

  it.each<[string, { handler: () => unknown; options?: { statusCode: number }; status: number; text: string }]>([
    ["a result of null", { handler: async () => null, status: 200, text: "null" }],
    ["no result", { handler: async () => {}, status: 200, text: "null" }],
    ["a status of its own", { handler: async () => 1, options: { statusCode: 201 }, status: 201, text: "1" }],
    ["204 without a body", { handler: async () => null, options: { statusCode: 204 }, status: 204, text: "" }],
    ["a plain handler", { handler: () => "plain", status: 200, text: '"plain"' }],
  ])("responds to %s", async (_name, { handler, options = {}, status, text }) => {
    const { app } = create();
    app.get("/", options, handler);
    expect(await call(app, "GET", "/")).toMatchObject({ status, text });
  });

  it("sends a returned Response as it is", async () => {
    const { app } = create();
    app.get(
      "/",
      { returns: t.Integer(), statusCode: 201 },
      async () => new PlainTextResponse("as it is", { statusCode: 203 }),
    );
    expect(await call(app, "GET", "/")).toMatchObject({ status: 203, text: "as it is" });
  });

  it("puts the draft on a copy of a returned Response, which may be given to many", async () => {
    const { app } = create();
    const shared = new PlainTextResponse("ok");
    app.get("/", { params: { response: Response, user: Header() } }, async ({ response, user }) => {
      response.setCookie("user", user);
      return shared;
    });
    await call(app, "GET", "/", { headers: [["user", "alice"]] });
    const answer = await call(app, "GET", "/", { headers: [["user", "bob"]] });
    expect(answer).toMatchObject({ text: "ok", headers: { "set-cookie": "user=bob; Path=/; SameSite=Lax" } });
    expect(shared.headers.has("set-cookie")).toBe(false);
  });

  it("calls a handler with an ordinary object, and takes names that every object inherits", async () => {
    const { app } = create();
    const seen: object[] = [];
    const keep = async (args: object) => void seen.push(args);
    app.get("/", keep);
    app.get("/path/{id}", keep);
    app.get("/typed/{id}", { params: { id: t.Integer(), q: Query({ default: null }) } }, keep);
    app.post("/body", { params: { body: t.Object({ a: t.Integer() }) } }, keep);
    app.get("/odd/{constructor}", { params: { ["__proto__"]: Query(), toString: Query() } }, keep);
    await call(app, "GET", "/");
    await call(app, "GET", "/path/1");
    await call(app, "GET", "/typed/1");
    await call(app, "POST", "/body", { json: { a: 1 } });
    await call(app, "GET", "/odd/1?__proto__=2&toString=3");
    expect(seen).toStrictEqual([{}, { id: "1" }, { id: 1, q: null }, { body: { a: 1 } }, seen[4]]);
    const odd = new Map([
      ["__proto__", "2"],
      ["toString", "3"],
      ["constructor", "1"],
    ]);
    expect(new Map(Object.entries(seen[4] ?? {}))).toEqual(odd);
  });

  it("keeps the path parameters of the request if a handler changes its arguments", async () => {
    const { app } = create();
    const seen: unknown[] = [];
    const keeping: Middleware = (inner) => async (scope, receive, send) => {
      await inner(scope, receive, send);
      if (scope.type === "http") seen.push(scope.path_params);
    };
    app.addMiddleware(keeping);
    app.get("/{id}", async (args) => Object.assign(args, { id: "changed" }));
    expect((await call(app, "GET", "/1")).json).toEqual({ id: "changed" });
    expect(seen).toEqual([{ id: "1" }]);
  });

  it("passes an empty object to a handler without parameters", async () => {
    const { app } = create();
    app.get("/", async (args) => Object.assign(args, { extra: 1 }));
    expect((await call(app, "GET", "/")).json).toEqual({ extra: 1 });
  });
});

describe("registration", () => {
  const handler = async () => null;

  it.each<[string, (app: App) => unknown, RegExp]>([
    ["a handler that is no function", (app) => app.get("/a", "x" as never), /GET \/a: .*function/],
    ["a missing handler", (app) => app.get("/a", {}, undefined as never), /GET \/a: the handler should be a function/],
    ["a path without a slash", (app) => app.get("a" as string, handler), /GET a: a path starts with "\/": write "\/a"/],
    ["the same method and pattern", (app) => app.get("/taken/{x}", handler), /GET \/taken\/\{x\}: /],
    ["a method that is none", (app) => app.route("/a", { methods: ["GET /"] }, handler), /"GET \/" is not a method/],
    ["a pattern with a constraint", (app) => app.get("/{id:\\d+}" as string, handler), /GET \/\{id:/],
    ["a mount with names", (app) => app.mount("/{x}", async () => {}), /mount \/\{x\}/],
    ["a mount of nothing", (app) => app.mount("/x", null as never), /mount \/x: an ASGI application is a function/],
    ["an App mounted on itself", (app) => app.mount("/x", app), /cannot mount itself/],
    ["a router that is none", (app) => app.includeRouter({}), /includeRouter\(\) takes a Router/],
    ["a prefix without a slash", () => new Router({ prefix: "users" }), /should be "\/users"/],
    [
      "a guard that is no descriptor",
      (app) => app.get("/a", { dependencies: [handler as never] }, handler),
      /GET \/a: `dependencies` takes Depends/,
    ],
    ["an exception handler for nothing", (app) => app.exceptionHandler(200, handler), /status from 400 to 599/],
    ["a path that is no text", (app) => app.get(/items/ as never, handler), /GET: the path of a route is text/],
    ["tags in one text", (app) => app.get("/a", { tags: "users" as never }, handler), /GET \/a: tags should be a list/],
    ["a status that is none", (app) => app.get("/a", { statusCode: 99 }, handler), /GET \/a: statusCode should be/],
    ["a status as text", (app) => app.get("/a", { statusCode: "201" as never }, handler), /GET \/a: statusCode should/],
    [
      "a result that is no schema",
      (app) => app.get("/a", { returns: String as never }, handler as never),
      /GET \/a: `returns` must be a schema such as .*not a function/,
    ],
    [
      "a middleware that is no function",
      (app) => app.addMiddleware({} as never),
      /addMiddleware\(\) takes a function from app to app, not an object/,
    ],
    [
      "a route's middleware that is none",
      (app) => app.get("/a", { middleware: [5 as never] }, handler),
      /GET \/a: a midd/,
    ],
    [
      "an App's middleware that is none",
      () => new App({ middleware: [undefined as never] }),
      /new App\(\): a middleware is a fun/,
    ],
    [
      "a router's tags in one text",
      () => new Router({ tags: "users" as never }),
      /new Router\(\): tags should be a list/,
    ],
    [
      "dependencies of an inclusion that are no list",
      (app) => app.includeRouter(new Router(), { dependencies: {} as never }),
      /includeRouter\(\): dependencies should be a list, not an object/,
    ],
    ["a startup hook that is none", (app) => app.onStartup(5 as never), /onStartup takes a function .*, not a number/],
    ["a shutdown hook that is none", (app) => app.onShutdown({} as never), /onShutdown takes a function/],
    ["a lifespan that is none", () => new App({ lifespan: {} as never }), /lifespan takes a function/],
  ])("rejects %s with a ConfigurationError", (_name, register, message) => {
    const { app } = create();
    app.get("/taken/{id}", handler);
    expect(() => register(app)).toThrow(ConfigurationError);
    expect(() => register(app)).toThrow(message);
  });

  it("ends with the first HTTP or WebSocket scope, and later calls throw", async () => {
    const { app } = create();
    const router = new Router();
    app.includeRouter(router);
    await live(app);
    app.get("/still", handler);
    await callInMemory(app, "GET", "/");
    for (const late of [
      () => app.get("/late", handler),
      () => router.get("/late", handler),
      () => app.includeRouter(new Router()),
      () => app.mount("/late", async () => {}),
      () => app.exceptionHandler(Error, handler),
    ]) {
      expect(late).toThrow(ConfigurationError);
      expect(late).toThrow(/before the first request/);
    }
  });

  it("is still open in a startup hook", async () => {
    const { app } = create();
    app.onStartup((started) => void started.get("/made", handler));
    await live(app);
    expect((await callInMemory(app, "GET", "/made")).status).toBe(200);
  });
});

describe("routers", () => {
  it("cannot include themselves, nor one that includes them", () => {
    const a = new Router();
    const b = new Router();
    a.includeRouter(b);
    expect(() => b.includeRouter(a)).toThrow(/cannot include itself/);
    expect(() => a.includeRouter(a)).toThrow(/cannot include itself/);
  });
});

describe("a module of routes", () => {
  const routesOf = (app: App) => app.routes.map(({ path, metadata }) => `${path} ${metadata.name}`);

  /** As `import * as items` returns it. */
  function createModule() {
    const router = new Router({ prefix: "/items" });
    const readItem = router.get("/{id}", { name: "read" }, async ({ id }) => id);
    const listItems = router.get("", async () => []);
    router.get("/own", async () => []);
    const watch = router.websocket("/watch", async ({ ws }) => ws.close());
    return { default: listItems, listItems, readItem, router, watch, LIMIT: 10 };
  }

  it("names its routes after their exports, unless they have a name", async () => {
    const { app } = create();
    app.includeRouter(createModule(), { prefix: "/v1" });
    expect(routesOf(app)).toEqual([
      "/v1/items/{id} read",
      "/v1/items listItems",
      "/v1/items/own undefined",
      "/v1/items/watch watch",
    ]);
    expect(app.urlPathFor("listItems")).toBe("/v1/items");
    expect((await callInMemory(app, "GET", "/v1/items")).json).toEqual([]);
  });

  it("can be included in a router, and again by its router without the names", () => {
    const { app } = create();
    const parent = new Router({ prefix: "/a" });
    const items = createModule();
    parent.includeRouter(items);
    app.includeRouter(parent);
    app.includeRouter(items.router, { prefix: "/b" });
    expect(routesOf(app)).toContain("/a/items listItems");
    expect(routesOf(app)).toContain("/b/items undefined");
    expect(app.openapi().paths["/a/items"]?.get).toMatchObject({ operationId: "listItems", summary: "List items" });
    expect(app.openapi().paths["/b/items"]?.get).toMatchObject({ operationId: "getBItems", summary: "Get b items" });
  });

  it.each<[what: string, module: Record<string, unknown>, message: RegExp]>([
    ["no router", { listItems: async () => [] }, /takes a Router, not/],
    ["two routers", { a: new Router(), b: new Router() }, /one Router, and this one exports 2/],
  ])("is rejected with %s", (_, module, message) => {
    const include = () => new App().includeRouter(module);
    expect(include).toThrow(
      expect.objectContaining({ code: "TSGI_NOT_A_ROUTER", message: expect.stringMatching(message) }),
    );
  });
});

describeMatrix("routers", ({ call }) => {
  it("nest, and a route added after includeRouter counts as well", async () => {
    const { app } = create();
    const child = new Router({ prefix: "/child" });
    const parent = new Router({ prefix: "/parent" });
    parent.includeRouter(child, { prefix: "/between" });
    app.includeRouter(parent, { prefix: "/v1" });
    child.get("/{id}", async ({ id }) => ({ id }));
    expect((await call(app, "GET", "/v1/parent/between/child/7")).json).toEqual({ id: "7" });
  });

  it("bind a name of an outer prefix that is declared with Path()", async () => {
    const { Path } = await import("../../src/index.js");
    const { app } = create();
    const router = new Router({ prefix: "/items" });
    router.get("/{item}", { params: { tenant: Path(t.Integer()) } }, async ({ tenant, item }) => ({ tenant, item }));
    app.includeRouter(router, { prefix: "/tenants/{tenant}" });
    expect((await call(app, "GET", "/tenants/3/items/x")).json).toEqual({ tenant: 3, item: "x" });
  });

  it("may be included twice under different prefixes", async () => {
    const { app } = create();
    const router = new Router();
    router.get("/x", async () => 1);
    app.includeRouter(router, { prefix: "/a" });
    app.includeRouter(router, { prefix: "/b" });
    expect((await call(app, "GET", "/a/x")).json).toBe(1);
    expect((await call(app, "GET", "/b/x")).json).toBe(1);
  });
});

describe("mounts", () => {
  it("work behind a server whose root_path is not part of the path", async () => {
    const { app } = create();
    const inner = new App();
    inner.get("/x", async () => "x");
    app.mount("/sub", inner);
    const sent: SendMessage[] = [];
    for (const path of ["/sub/x", "/proxy/sub/x"]) {
      await app(
        { type: "http", method: "GET", path, root_path: "/proxy" },
        () => Promise.reject(new Error()),
        (message) => void sent.push(message),
      );
    }
    expect(sent).toMatchObject([{ status: 200 }, {}, { status: 200 }, {}]);
  });
});

describeMatrix("mounts", ({ call }) => {
  const seeing: ASGIApp = async (scope, _receive, send) => {
    const { path, root_path } = scope as HTTPScope;
    await new JSONResponse({ path, root_path }).send(send);
  };

  it("get the whole path, and a root_path that has grown", async () => {
    const { app } = create();
    const inner = new App();
    inner.mount("/deep", seeing);
    app.mount("/sub", inner);
    app.mount("/raw", seeing);
    expect((await call(app, "GET", "/raw/a/b")).json).toEqual({ path: "/raw/a/b", root_path: "/raw" });
    expect((await call(app, "GET", "/sub/deep/x")).json).toEqual({ path: "/sub/deep/x", root_path: "/sub/deep" });
  });

  it("come after a route that matches path and method; the longest wins, then 405, then 404", async () => {
    const { app } = create();
    app.get("/sub/here", async () => "route");
    app.mount("/sub", seeing);
    app.mount("/sub/longer", async (_scope, _receive, send) => new PlainTextResponse("longer").send(send));
    app.get("/elsewhere", async () => null);
    expect((await call(app, "GET", "/sub/here")).json).toBe("route");
    expect((await call(app, "POST", "/sub/here")).json).toEqual({ path: "/sub/here", root_path: "/sub" });
    expect((await call(app, "GET", "/sub/longer/x")).text).toBe("longer");
    expect((await call(app, "GET", "/sublime")).status).toBe(404);
    expect((await call(app, "POST", "/elsewhere")).status).toBe(405);
  });

  it("serve a mounted App's own routes, 404 and 405, and pass on the outermost App", async () => {
    const { app } = create();
    const inner = new App();
    inner.get("/a", { params: { request: Request } }, async ({ request }) => request.app === app);
    inner.get("/", async () => "root");
    app.mount("/sub", inner);
    expect((await call(app, "GET", "/sub/a")).json).toBe(true);
    expect((await call(app, "GET", "/sub")).json).toBe("root");
    expect((await call(app, "GET", "/sub/")).json).toBe("root");
    expect((await call(app, "GET", "/sub/x")).status).toBe(404);
    expect((await call(app, "POST", "/sub/a")).headers["allow"]).toBe("GET, HEAD");
  });

  it("can be at the root, after every route, and at a prefix in the form of a pattern", async () => {
    const { app } = create();
    app.get("/own", async () => "own");
    app.mount("/", seeing);
    app.mount("/a%2Fb", async (_scope, _receive, send) => new PlainTextResponse("slash").send(send));
    expect((await call(app, "GET", "/own")).json).toBe("own");
    expect((await call(app, "GET", "/else")).json).toEqual({ path: "/else", root_path: "" });
    expect((await call(app, "GET", "/a%2Fb/x")).text).toBe("slash");
    expect((await call(app, "GET", "/a/b/x")).json).toEqual({ path: "/a/b/x", root_path: "" });
  });

  it("turn an error of a mounted application into a 500", async () => {
    const { app, log } = create();
    app.mount("/sub", () => Promise.reject(new Error("inner")));
    expect((await call(app, "GET", "/sub/x")).status).toBe(500);
    expect(log.lines).toEqual(["error GET /sub/x failed: Error: inner"]);
  });
});

describe("paths", () => {
  const seen = async (target: string, raw = true) => {
    const paths: string[] = [];
    const { app } = create();
    app.addMiddleware((inner) => (scope, receive, send) => {
      paths.push((scope as HTTPScope).path);
      return inner(scope, receive, send);
    });
    app.get("/a/{x}", async ({ x }) => x);
    const scope: HTTPScope = { type: "http", method: "GET", path: target };
    const sent: SendMessage[] = [];
    await app(
      raw ? { ...scope, raw_path: Buffer.from(target) } : scope,
      () => Promise.reject(new Error()),
      (message) => void sent.push(message),
    );
    const start = sent[0] as { status: number };
    const body = sent[1] as { body: Uint8Array };
    return { path: paths[0], status: start.status, body: Buffer.from(body.body).toString() };
  };

  it.each([
    ["//a///b/", "/a/b", '"b"'],
    ["/a/%62", "/a/b", '"b"'],
    ["/%61/b", "/a/b", '"b"'],
    ["/a/b%2Fc", "/a/b%2Fc", '"b/c"'],
    ["/a/100%25", "/a/100%25", '"100%"'],
    ["/a/%252F", "/a/%252F", '"%2F"'],
    ["/a/%C3%A9", "/a/é", '"é"'],
    ["/a/..", "/a/..", '".."'],
  ])("%s is canonical before the middleware sees it: %s", async (target, path, body) => {
    expect(await seen(target)).toEqual({ path, status: 200, body });
  });

  it("without raw_path count as decoded", async () => {
    expect(await seen("/a/100%", false)).toEqual({ path: "/a/100%25", status: 200, body: '"100%"' });
  });

  it("are taken from the App and the path of each scope", async () => {
    const seenPaths: string[] = [];
    const apps = ["a", "b"].map((name) => {
      const { app } = create();
      app.state["name"] = name;
      app.addMiddleware((inner) => (given, receive, send) => {
        seenPaths.push((given as HTTPScope).path);
        return inner(given, receive, send);
      });
      const answer = async ({ request }: { request: Request }) => (request.app as App).state["name"];
      app.get("/{x}", { params: { request: Request } }, answer);
      return app;
    });
    const texts: string[] = [];
    const ask = async (app: App | undefined, scope: HTTPScope) =>
      app?.(
        scope,
        () => Promise.reject(new Error()),
        (message) =>
          void (message.type === "http.response.body" && texts.push(Buffer.from(message.body ?? []).toString())),
      );
    const scope: HTTPScope = { type: "http", method: "GET", path: "/x" };
    for (const app of apps) await ask(app, scope);
    scope.path = "//y/";
    for (const app of apps) await ask(app, Object.freeze(scope));
    expect(texts).toEqual(['"a"', '"b"', '"a"', '"b"']);
    expect(seenPaths).toEqual(["/x", "/x", "/y", "/y"]);
    expect(scope.path).toBe("//y/");
  });

  /** `raw_path` of a mounted application, `""` if it is absent. */
  const rawPathOf = async (scope: Omit<HTTPScope, "type" | "method">, prefix = "/") => {
    let raw = "";
    const { app } = create();
    app.mount(prefix, async (given, _receive, send) => {
      raw = Buffer.from((given as HTTPScope).raw_path ?? []).toString("latin1");
      await new Response().send(send);
    });
    await app(
      { type: "http", method: "GET", ...scope },
      () => Promise.reject(new Error()),
      () => {},
    );
    return raw;
  };

  it.each([
    ["/a/b:c@d/", "a slash at the end"],
    ["/a//b+c=d!,e&f$g(h)*;'", "an empty segment"],
    ['//a|b[c]^{d}\\`"<>', "characters that servers accept though RFC 3986 does not"],
    ["*", "the asterisk form"],
  ])("%s stays in raw_path as it was received, with %s", async (target) => {
    expect(await rawPathOf({ path: target })).toBe(target);
  });

  it.each([
    ["/caf\u00e9/100%/a b?#/", "/caf%C3%A9/100%25/a%20b%3F%23/"],
    ["/\u{1f600}/\r\n/", "/%F0%9F%98%80/%0D%0A/"],
  ])("without raw_path are encoded in it: %j", async (path, raw) => {
    expect(await rawPathOf({ path })).toBe(raw);
  });

  it("with a lone surrogate result in 400", async () => {
    expect(await seen("/a/\ud800", false)).toMatchObject({ path: "", status: 400 });
  });

  it.each([
    ["/sub/a:b", "", "/sub/a:b"],
    ["/sub/a b", "/sub/a%20b", "/sub/a%20b"],
  ])("below a root_path that is not part of %s stay in raw_path as received", async (path, raw, received) => {
    const scope = { path, root_path: "/proxy", ...(raw !== "" && { raw_path: Buffer.from(raw) }) };
    expect(await rawPathOf(scope, "/sub")).toBe(received);
  });

  it.each<[way: string, close: (scope: HTTPScope) => HTTPScope]>([
    ["frozen", Object.freeze],
    ["sealed", Object.seal],
    ["not extensible", Object.preventExtensions],
  ])("are written to a copy of a scope that is %s, even if the App is mounted", async (_, close) => {
    const { app: inner } = create({ problemDetails: true });
    inner.get("/x", async () => "x");
    const { app } = create();
    app.mount("/sub", (scope, receive, send) => inner(close({ ...(scope as HTTPScope) }), receive, send));
    for (const [called, path] of [
      [inner, "//x"],
      [app, "//sub/x"],
    ] as const) {
      const scope = close({ type: "http", method: "GET", path, app: undefined, path_params: undefined });
      const sent: SendMessage[] = [];
      await called(
        scope,
        () => Promise.reject(new Error()),
        (message) => void sent.push(message),
      );
      expect(sent).toMatchObject([{ status: 200 }, { body: expect.anything() }]);
      expect(scope).toMatchObject({ path, app: undefined });
    }
  });

  it.each(["/a/%FF", "/a/%zz", "/a/%"])("%s results in 400, which middleware and handlers see", async (target) => {
    expect(await seen(target)).toMatchObject({ path: "", status: 400 });
    const { app } = create({ middleware: [marking("seen")] });
    app.exceptionHandler(400, () => ({ own: true }));
    app.get("/", async () => "never");
    expect(await callInMemory(app, "GET", "/%FF").catch(String)).toMatchObject({
      status: 400,
      json: { own: true },
      headers: { "x-seen": "yes" },
    });
  });
});

describeMatrix("middleware", ({ call, transport }) => {
  it("runs last registered first, and every scope passes through", async () => {
    const notes: string[] = [];
    const { app } = create({ middleware: [marking("first", notes)] });
    app.addMiddleware(marking("second", notes));
    app.get("/", async () => null);
    if (transport === "memory") await live(app); // a server has done so
    const answer = await call(app, "GET", "/");
    expect(answer.headers).toMatchObject({ "x-first": "yes", "x-second": "yes" });
    expect(notes).toEqual(["second lifespan", "first lifespan", "second http", "first http"]);
  });

  it("is built into a chain once, and again after addMiddleware", async () => {
    let built = 0;
    const counting: Middleware = (app) => {
      built++;
      return app;
    };
    const { app } = create({ middleware: [counting] });
    app.get("/", async () => null);
    await call(app, "GET", "/");
    await call(app, "GET", "/");
    expect(built).toBe(1);
    app.addMiddleware(marking("late"));
    expect((await call(app, "GET", "/")).headers).toMatchObject({ "x-late": "yes" });
    expect(built).toBe(2);
  });

  it("of App, routers and route wrap in that order", async () => {
    const notes: string[] = [];
    const { app } = create({ middleware: [marking("app", notes)] });
    const parent = new Router({ middleware: [marking("parent", notes)] });
    const child = new Router({ middleware: [marking("child", notes)] });
    child.get(
      "/{id}",
      { middleware: [marking("route-inner", notes), marking("route-outer", notes)] },
      async ({ id }) => id,
    );
    parent.includeRouter(child, { middleware: [marking("include", notes)] });
    app.includeRouter(parent);
    expect((await call(app, "GET", "/7")).json).toBe("7");
    expect(notes.filter((note) => note.endsWith("http")).map((note) => note.split(" ")[0])).toEqual([
      "app",
      "parent",
      "include",
      "child",
      "route-outer",
      "route-inner",
    ]);
  });

  it("sees error responses: of a handler, of validation, 404 and 405", async () => {
    const { app } = create({ middleware: [marking("seen")] });
    app.get("/boom", async () => {
      throw new Error("boom");
    });
    app.get("/n/{n}", { params: { n: t.Integer() } }, async () => null);
    for (const [method, path, status] of [
      ["GET", "/boom", 500],
      ["GET", "/n/x", 422],
      ["GET", "/none", 404],
      ["POST", "/boom", 405],
    ] as const) {
      expect(await call(app, method, path)).toMatchObject({ status, headers: { "x-seen": "yes" } });
    }
  });

  it("is inside another guard that catches its errors", async () => {
    const failing: Middleware = () => () => Promise.reject(new HTTPException(403, "stop"));
    const { app } = create({ middleware: [failing] });
    app.get("/", async () => null);
    expect(await call(app, "GET", "/")).toMatchObject({ status: 403, json: { detail: "stop" } });
    const { app: routed } = create({ middleware: [marking("outer")] });
    routed.get("/", { middleware: [failing] }, async () => null);
    expect(await call(routed, "GET", "/")).toMatchObject({ status: 403, headers: { "x-outer": "yes" } });
  });
});

describeMatrix("errors", ({ call }) => {
  class Teapot extends Error {
    override readonly name = "Teapot";
  }

  it("give an HTTPException without a detail the phrase of its status, as Node's servers write it", () => {
    const { 509: _, ...registered } = STATUS_CODES;
    const phrases = Object.entries(registered).filter(([status]) => Number(status) >= 400);
    expect(phrases.map(([status]) => [status, new HTTPException(Number(status)).detail])).toEqual(phrases);
    expect(phrases).toContainEqual(["422", "Unprocessable Entity"]);
  });

  it("give HTTPExceptions their status, detail and headers", async () => {
    const { app } = create();
    app.get("/", async () => {
      throw new HTTPException(401, { reason: "x" }, { headers: { "WWW-Authenticate": "Bearer" } });
    });
    const answer = await call(app, "GET", "/");
    expect(answer).toMatchObject({
      status: 401,
      json: { detail: { reason: "x" } },
      headers: { "www-authenticate": "Bearer" },
    });
    expect(new HTTPException(404).detail).toBe("Not Found");
    expect(() => new HTTPException(99)).toThrow(RangeError);
  });

  it("result in 500 if they are unexpected, and are logged with their cause but not sent", async () => {
    const { app, log } = create();
    app.get("/", async () => {
      throw new Error("secret detail");
    });
    const answer = await call(app, "GET", "/");
    expect(answer).toMatchObject({ status: 500, text: '{"detail":"Internal Server Error"}' });
    expect(log.lines).toEqual(["error GET / failed: Error: secret detail"]);
  });

  it("are shown with `debug`", async () => {
    const { app } = create({ debug: true });
    app.get("/", async () => {
      throw new Error("shown");
    });
    expect((await call(app, "GET", "/")).text).toContain("shown");
  });

  it("may be anything that can be thrown", async () => {
    const { app } = create();
    for (const [index, thrown] of ["text", null, undefined, 5, { a: 1 }].entries()) {
      app.get(`/${index}`, async () => {
        throw thrown;
      });
    }
    for (const index of [0, 1, 2, 3, 4]) expect((await call(app, "GET", `/${index}`)).status).toBe(500);
  });

  it("go to the nearest handler: route, child router, parent, App", async () => {
    const { app } = create();
    const answering = (where: string) =>
      [[Teapot, async () => new PlainTextResponse(where, { statusCode: 418 })]] as const;
    const parent = new Router({ prefix: "/parent" });
    const child = new Router({ prefix: "/child", exceptionHandlers: answering("child") });
    const fail = async () => {
      throw new Teapot();
    };
    child.get("/route", { exceptionHandlers: answering("route") }, fail);
    child.get("/plain", fail);
    parent.get("/plain", fail);
    app.get("/plain", fail);
    parent.exceptionHandler(Teapot, () => new PlainTextResponse("parent", { statusCode: 418 }));
    parent.includeRouter(child);
    app.includeRouter(parent);
    app.exceptionHandler(Teapot, () => new PlainTextResponse("app", { statusCode: 418 }));
    expect((await call(app, "GET", "/parent/child/route")).text).toBe("route");
    expect((await call(app, "GET", "/parent/child/plain")).text).toBe("child");
    expect((await call(app, "GET", "/parent/plain")).text).toBe("parent");
    expect((await call(app, "GET", "/plain")).text).toBe("app");
  });

  it("sends the headers of an HTTPException with the value that its handler returns", async () => {
    const app = new App();
    app.exceptionHandler(HTTPException, ({ detail }) => ({ own: detail }));
    app.get("/login", async () => {
      throw new HTTPException(401, "Who are you?", { headers: { "WWW-Authenticate": "Bearer" } });
    });
    const refused = await call(app, "GET", "/login");
    expect(refused).toMatchObject({ status: 401, json: { own: "Who are you?" } });
    expect(refused.headers["www-authenticate"]).toBe("Bearer");
    expect((await call(app, "POST", "/login")).headers["allow"]).toBe("GET, HEAD"); // RFC 9110 §15.5.6
  });

  it("find their handler by status, by class, and by the class that theirs extends", async () => {
    const { app } = create();
    app.exceptionHandler(404, (_error, request) => ({ nothing: request.path }));
    app.exceptionHandler(
      HTTPException,
      (error) => new PlainTextResponse(String(error.detail), { statusCode: error.statusCode }),
    );
    app.exceptionHandler(Error, () => new PlainTextResponse("any", { statusCode: 500 }));
    app.get("/teapot", async () => {
      throw new Teapot();
    });
    expect(await call(app, "GET", "/none")).toMatchObject({ status: 404, json: { nothing: "/none" } });
    expect(await call(app, "POST", "/teapot")).toMatchObject({ status: 405, text: "Method Not Allowed" });
    expect(await call(app, "GET", "/teapot")).toMatchObject({ status: 500, text: "any" });
  });

  it("with a handler for their class use it, even if another handler is for the status 500", async () => {
    const { app } = create();
    app.exceptionHandler(500, () => ({ by: "status" }));
    app.exceptionHandler(RangeError, () => new PlainTextResponse("class", { statusCode: 409 }));
    const thrown: Readonly<Record<string, unknown>> = {
      RangeError: new RangeError(),
      Error: new Error("x"),
      text: "x",
    };
    app.get("/{name}", async ({ name }) => Promise.reject(thrown[name]));
    expect(await call(app, "GET", "/RangeError")).toMatchObject({ status: 409, text: "class" });
    expect(await call(app, "GET", "/Error")).toMatchObject({ status: 500, json: { by: "status" } });
    expect(await call(app, "GET", "/text")).toMatchObject({ status: 500, json: { by: "status" } });
  });

  it("of the framework keep their default responses with a handler for Error", async () => {
    const { app } = create();
    app.exceptionHandler(Error, () => new PlainTextResponse("any", { statusCode: 500 }));
    app.get("/n/{n}", { params: { n: t.Integer() } }, async () => {
      throw new Error("x");
    });
    expect((await call(app, "GET", "/none")).status).toBe(404);
    expect((await call(app, "GET", "/n/x")).status).toBe(422);
    expect((await call(app, "GET", "/n/1")).text).toBe("any");
  });

  it("of an exception handler result in 500, or in the response of an HTTPException", async () => {
    const { app, log } = create();
    app.exceptionHandler(Teapot, () => {
      throw new Error("handler fails");
    });
    app.exceptionHandler(TypeError, () => {
      throw new HTTPException(409);
    });
    app.get("/a", async () => {
      throw new Teapot();
    });
    app.get("/b", async () => {
      throw new TypeError();
    });
    expect((await call(app, "GET", "/a")).status).toBe(500);
    expect((await call(app, "GET", "/b")).status).toBe(409);
    expect(log.lines).toEqual(["error GET /a failed: Teapot: ", "error GET /a failed: Error: handler fails"]);
  });

  it("can be passed from a custom handler to the default handlers", async () => {
    const { app } = create();
    app.exceptionHandler(HTTPException, (error) => {
      const response = httpExceptionHandler(error);
      response.headers.set("x-own", "yes");
      return response;
    });
    expect(await call(app, "GET", "/none")).toMatchObject({
      status: 404,
      json: { detail: "Not Found" },
      headers: { "x-own": "yes" },
    });
  });

  it("are logged at each occurrence, even if the same object is thrown each time", async () => {
    const log = new KeptLog();
    const app = new App({ logger: log });
    const shared = new Error("no connection");
    app.get("/", async () => Promise.reject(shared));
    const answers = await Promise.all(Array.from({ length: 50 }, () => call(app, "GET", "/")));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 500));
    expect(log.lines).toEqual(Array.from({ length: 50 }, () => "error GET / failed: Error: no connection"));
  });

  it("are logged once per request if they pass through middleware, a mount and the server", async () => {
    const log = new KeptLog();
    const shared = new Error("too late");
    const inner = new App({
      logger: log,
      middleware: [
        (next) =>
          (scope, ...rest) =>
            next({ ...scope }, ...rest),
      ],
    });
    const failing: ASGIApp = async (_scope, _receive, send) => {
      await send({ type: "http.response.start", status: 200, headers: [] });
      await send({ type: "http.response.body", body: new Uint8Array(1), more_body: true });
      throw shared;
    };
    inner.mount("/raw", failing);
    const app = new App({
      logger: log,
      middleware: [
        (next) =>
          (scope, ...rest) =>
            next({ ...scope }, ...rest),
      ],
    });
    app.mount("/sub", inner);
    const outermost: ASGIApp = (scope, ...rest) => app({ ...scope }, ...rest);
    await using server = await serve(outermost, { port: 0, signals: false, logger: log });
    for (let count = 1; count <= 3; count++) {
      await fetch(`${server.url}/sub/raw`)
        .then((response) => response.text())
        .catch(() => {});
      expect(log.lines.filter((line) => line.startsWith("error"))).toHaveLength(count);
    }
  });

  it("after the response has started are logged once and rethrown", async () => {
    const { app, log } = create({ middleware: [marking("outer")] });
    app.mount("/raw", async (_scope, _receive, send) => {
      await send({ type: "http.response.start", status: 200 });
      throw new Error("too late");
    });
    await expect(call(app, "GET", "/raw")).rejects.toThrow("too late");
    expect(log.lines).toEqual(["error GET /raw failed: Error: too late"]);
  });

  it("in a header that HTTP does not allow are a 500 and one log line", async () => {
    const { app, log } = create();
    app.get("/header", async () => new Response("x", { headers: { "x-a": "b\r\nset-cookie: c" } }));
    app.get("/detail", async () => {
      throw new HTTPException(401, "x", { headers: { "x-a": "b\nc" } });
    });
    expect((await call(app, "GET", "/header")).status).toBe(500);
    expect((await call(app, "GET", "/detail")).status).toBe(500);
    expect(log.lines).toHaveLength(2);
  });
});

describe("lifespan", () => {
  it("starts hooks in order and stops in reverse; hooks get the App", async () => {
    const notes: string[] = [];
    const { app } = create();
    app.onStartup((given) => void notes.push(`start 1 ${given === app}`));
    app.onStartup(async () => {
      notes.push("start 2");
      return () => notes.push("cleanup 2");
    });
    app.onShutdown(() => notes.push("stop 1"));
    app.onShutdown(async () => void notes.push("stop 2"));
    const sent = await live(app, async () => void notes.push("serving"));
    expect(notes).toEqual(["start 1 true", "start 2", "serving", "stop 2", "stop 1", "cleanup 2"]);
    expect(sent.map(({ type }) => type)).toEqual(["lifespan.startup.complete", "lifespan.shutdown.complete"]);
  });

  it("rolls back what had started when a hook fails, mounted Apps among it", async () => {
    const notes: string[] = [];
    const { app } = create({
      async *lifespan() {
        yield;
        notes.push("lifespan ends");
      },
    });
    const first = new App();
    const second = new App();
    app.onStartup(() => () => notes.push("app cleaned"));
    first.onStartup(() => () => notes.push("first cleaned"));
    second.onStartup(() => {
      throw new Error("no database");
    });
    app.mount("/first", first);
    app.mount("/second", second);
    const sent = await live(app);
    expect(sent[0]).toEqual({ type: "lifespan.startup.failed", message: "Error: no database" });
    expect(notes).toContain("app cleaned");
    expect(notes.at(-1)).toBe("lifespan ends");
    expect(notes.indexOf("first cleaned")).toBeLessThan(notes.indexOf("app cleaned"));
  });

  it("stops the resources of a mounted App before its own, and starts an App that is mounted twice once", async () => {
    const notes: string[] = [];
    const { app } = create();
    const inner = new App();
    app.onStartup(() => () => notes.push("app cleaned"));
    app.onShutdown(() => notes.push("app stops"));
    inner.onStartup(() => () => notes.push("inner cleaned"));
    inner.onShutdown(() => notes.push("inner stops"));
    app.mount("/a", inner);
    app.mount("/b", inner);
    await live(app);
    expect(notes).toEqual(["inner stops", "inner cleaned", "app stops", "app cleaned"]);
  });

  it("throws an error with the correct form for a lifespan that is not a generator", async () => {
    const { app } = create({ lifespan: (async () => {}) as never });
    const [answer] = await live(app);
    expect(answer).toEqual({ type: "lifespan.startup.failed", message: expect.stringContaining("is not a generator") });
  });

  it("reports the host and the reason of a connection that was refused at two addresses", async () => {
    const { app, log } = create();
    const refused = () =>
      Promise.reject(
        Object.assign(new AggregateError([new Error("connect ECONNREFUSED ::1:1"), new Error("connect x")], ""), {
          code: "ECONNREFUSED",
        }),
      );
    app.onShutdown(refused);
    const message = "AggregateError: connect ECONNREFUSED ::1:1; connect x";
    expect((await live(app))[1]).toEqual({ type: "lifespan.shutdown.failed", message });
    expect(log.lines).toEqual([`error A shutdown hook failed: ${message}`]);
    const { app: other } = create();
    other.onStartup(refused);
    expect(await live(other)).toEqual([{ type: "lifespan.startup.failed", message }]);
  });

  it("runs every shutdown hook even if one fails, and reports the failure", async () => {
    const notes: string[] = [];
    const { app, log } = create();
    app.onShutdown(() => notes.push("last"));
    app.onShutdown(() => {
      throw new Error("stuck");
    });
    const sent = await live(app);
    expect(sent[1]).toEqual({ type: "lifespan.shutdown.failed", message: "Error: stuck" });
    expect(notes).toEqual(["last"]);
    expect(log.lines).toEqual(["error A shutdown hook failed: Error: stuck"]);
  });

  it("stores the value that its generator yields in the state of the scope", async () => {
    const { app } = create({
      async *lifespan() {
        yield { db: "open" };
      },
    });
    const scope = { type: "lifespan" as const, state: {} as Record<string, unknown> };
    await app(
      scope,
      () => Promise.resolve({ type: "lifespan.startup" }),
      (message) => {
        if (message.type === "lifespan.startup.complete") throw new Error("seen");
      },
    ).catch(() => {});
    expect(scope.state).toEqual({ db: "open" });
  });
});

describe("urlPathFor", () => {
  it("keeps the trailing slash of a WebSocket's pattern, which counts", () => {
    const app = new App();
    app.websocket("/rooms/{room}/", { name: "room" }, async () => {});
    expect(app.urlPathFor("room", { room: "a" })).toBe("/rooms/a/");
  });

  it("builds a path by the name of the route or of its handler", () => {
    const { app } = create();
    app.get("/users/{id}/files/{name}", { name: "file" }, async () => null);
    app.get("/health", async function health() {
      return null;
    });
    expect(app.urlPathFor("file", { id: 7, name: "a/b c" })).toBe("/users/7/files/a%2Fb%20c");
    expect(app.urlPathFor("health")).toBe("/health");
    expect(() => app.urlPathFor("nobody")).toThrow(/no route is named "nobody"/);
    expect(() => app.urlPathFor("file", { id: 7 })).toThrow(ConfigurationError);
  });
});

describe("WebSocket scopes without a route", () => {
  it("are closed with 4004", async () => {
    const { app } = create();
    const sent: SendMessage[] = [];
    await app(
      { type: "websocket", path: "/none" },
      () => Promise.resolve({ type: "websocket.connect" }),
      (message) => void sent.push(message),
    );
    expect(sent).toEqual([{ type: "websocket.close", code: 4004, reason: "No route" }]);
  });
});

describe("a header parameter and the synthetic scope", () => {
  it("of five fields is enough for a call", async () => {
    const { app } = create();
    app.get("/x", { params: { accept: Header({ default: null }) } }, async ({ accept }) => accept);
    const sent: SendMessage[] = [];
    await app(
      { type: "http", method: "GET", path: "/x", query_string: new Uint8Array(0), headers: [] },
      () => Promise.resolve({ type: "http.request" }),
      (message) => void sent.push(message),
    );
    expect(sent[0]).toMatchObject({ status: 200 });
  });
});
