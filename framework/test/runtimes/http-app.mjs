/** The application of the HTTP table: it needs no module of Node, and runs unchanged on every runtime. */
import {
  App,
  BackgroundTasks,
  Cookie,
  Depends,
  event,
  EventSourceResponse,
  File,
  Form,
  Header,
  HTMLResponse,
  HTTPException,
  JSONResponse,
  lastEventId,
  PlainTextResponse,
  Query,
  RedirectResponse,
  Request as OwnRequest,
  Response as OwnResponse,
  Router,
  StreamingResponse,
  t,
  withParams,
} from "tsgi";
import {
  bodyLimit,
  clearSession,
  cors,
  csrf,
  httpMiddleware,
  idempotency,
  memoryStore,
  renewSession,
  requestId,
  securityHeaders,
  sessionOf,
  sessions,
  timeLimit,
  trustedHost,
} from "tsgi/middleware";
import { APIKeyCookie, APIKeyHeader, APIKeyQuery, compareSecrets, HTTPBasic, HTTPBearer } from "tsgi/security";
import { fromFetchHandler } from "tsgi/web";

const encoder = new TextEncoder();

const Item = t.Object({
  name: t.String({ minLength: 1, maxLength: 20 }),
  price: t.Number({ minimum: 0 }),
  tags: t.Array(t.String(), { default: [], maxItems: 3 }),
  owner: t.Optional(t.Object({ id: t.Integer(), email: t.String({ format: "email" }) })),
});

/** Returns the parsed parameters. A Date is text in JSON. */
const echo = async (given) => given;

/** One route for each kind of text, as a path parameter and as a query parameter. */
const TEXTS = {
  integer: t.Integer({ minimum: 0, maximum: 1000 }),
  number: t.Number(),
  boolean: t.Boolean(),
  date: t.Date(),
  choice: t.Union([t.Literal("red"), t.Literal("green")]),
  uuid: t.String({ format: "uuid" }),
  pattern: t.String({ pattern: "^[a-z]+$" }),
};

function addParameters(app) {
  for (const [name, schema] of Object.entries(TEXTS)) {
    app.get(`/path/${name}/{value}`, { params: { value: schema } }, echo);
    app.get(`/query/${name}`, { params: { value: Query(schema) } }, echo);
  }
  const defaults = {
    page: t.Integer({ default: 1 }),
    size: Query(t.Integer(), { default: null }),
    sort: t.Optional(t.String()),
    tag: t.Array(t.String(), { default: [] }),
    at: Query({ alias: "from-date", default: "today" }),
  };
  app.get("/query/defaults", { params: defaults }, echo);
  app.get("/query/required", { params: { a: t.Integer(), b: t.Integer() } }, echo);
  const filter = Query(t.Object({ a: t.Integer(), b: t.String({ default: "x" }) }, { additionalProperties: false }));
  app.get("/query/object", { params: { filter } }, echo);
  app.get("/headers", { params: { userAgent: Header(), count: Header(t.Integer(), { alias: "X-Count" }) } }, echo);
  app.get("/headers/echo", { params: { given: Header({ alias: "x-given" }) } }, async ({ given }) => {
    return new OwnResponse("", { headers: { "x-echo": given } });
  });
  app.get("/headers/web", { params: { request: OwnRequest } }, async ({ request }) => {
    return new Response(null, { headers: { "x-echo": request.toWeb().headers.get("x-given") } });
  });
  app.get("/headers/all", { params: { request: OwnRequest } }, async ({ request }) => request.headers);
  app.get("/cookies", { params: { a: Cookie(), n: Cookie(t.Integer(), { default: 0 }) } }, echo);
  app.get(
    "/proto",
    { params: { own: Query({ alias: "__proto__" }), made: Query({ alias: "constructor" }) } },
    async ({ own, made }) => ({ own, made }),
  );
}

function addBodies(app) {
  app.post("/items", { params: { item: Item }, returns: Item, statusCode: 201 }, async ({ item }) => item);
  app.put("/items/{id}", { params: { id: t.Integer(), item: Item, dry: t.Boolean({ default: false }) } }, echo);
  app.post("/closed", { params: { body: t.Object({ a: t.Integer() }, { additionalProperties: false }) } }, echo);
  app.post("/list", { params: { list: t.Array(t.Object({ n: t.Integer() }), { minItems: 1 }) } }, echo);
  const animals = [
    t.Object({ kind: t.Literal("cat"), lives: t.Integer() }),
    t.Object({ kind: t.Literal("dog"), bark: t.Boolean() }),
  ];
  app.post("/union", { params: { animal: t.Union(animals) } }, echo);
  app.post("/small", { params: { body: t.Object({ a: t.String() }) }, limits: { bodyBytes: 20 } }, echo);
  app.post("/text", { params: { request: OwnRequest } }, async ({ request }) => request.text());
  app.post("/count", { params: { request: OwnRequest } }, async ({ request }) => {
    let bytes = 0;
    for await (const part of request.stream()) bytes += part.length;
    return bytes;
  });
  app.post(
    "/stream",
    { params: { request: OwnRequest } },
    async ({ request }) => new StreamingResponse(request.stream()),
  );
  app.post("/form", { params: { name: Form(), age: Form(t.Integer(), { default: 18 }) } }, echo);
  app.post("/upload", { params: { title: Form(), file: File() } }, async ({ title, file }) => {
    return { title, filename: file.filename, type: file.contentType, size: file.size, text: await file.text() };
  });
  app.post("/files", { params: { files: File({ multiple: true }) } }, async ({ files }) =>
    files.map((file) => file.filename),
  );
  app.post("/web/echo", { params: { request: OwnRequest } }, async ({ request }) => {
    const web = request.toWeb();
    return { method: web.method, path: new URL(web.url).pathname, a: web.headers.get("x-a"), text: await web.text() };
  });
}

async function* numbers(count, map) {
  for (let n = 1; n <= count; n++) yield map(n);
}

function addResponses(app) {
  app.get("/json", async () => ({ text: "héllo ☃", none: null, list: [1, 2.5, true], nested: { a: {} } }));
  for (const [name, value] of Object.entries({ null: null, number: 1.5, text: "text", list: [], nothing: undefined })) {
    app.get(`/json/${name}`, async () => value);
  }
  app.get("/json/bigint", async () => 1n);
  app.get("/text", async () => new PlainTextResponse("héllo"));
  app.get("/html", async () => new HTMLResponse("<p>hi</p>"));
  app.get(
    "/bytes",
    async () => new OwnResponse(new Uint8Array([0, 255, 10]), { mediaType: "application/octet-stream" }),
  );
  app.get("/empty", async () => new OwnResponse(null));
  app.get("/own", async () => new JSONResponse({ a: 1 }, { statusCode: 418, headers: { "x-a": "b" } }));
  app.get("/redirect", async () => new RedirectResponse("/json?a=b c"));
  app.get("/status/204", { statusCode: 204 }, async () => null);
  app.get("/status/304", async () => new OwnResponse(null, { statusCode: 304, headers: { etag: '"a"' } }));
  app.get("/cookies/set", async () => {
    const response = new OwnResponse("set");
    response.setCookie("a", "1 ü;", { httpOnly: true });
    response.setCookie("b", "2", { path: "/x", sameSite: "strict" });
    response.deleteCookie("c");
    return response;
  });
  app.get("/draft", { params: { response: OwnResponse } }, async ({ response }) => {
    response.statusCode = 202;
    response.headers.set("x-draft", "yes");
    response.setCookie("d", "1");
    return { drafted: true };
  });
  app.get(
    "/injection",
    { params: { value: Query() } },
    async ({ value }) => new OwnResponse("", { headers: { "x-a": value } }),
  );
  app.get(
    "/stream",
    async () =>
      new StreamingResponse(
        numbers(5, (n) => `${n}\n`),
        { mediaType: "text/plain" },
      ),
  );
  app.get("/stream/large", async () => new StreamingResponse(numbers(64, () => new Uint8Array(65_536).fill(113))));
  app.get(
    "/stream/length",
    async () => new StreamingResponse(numbers(3, String), { headers: { "content-length": "3" } }),
  );
  app.get("/stream/empty", async () => new StreamingResponse(numbers(0, String)));
  app.get("/stream/early", async () => new StreamingResponse(numbers(1, () => Promise.reject(new HTTPException(409)))));
  app.get("/lines", { returns: t.Object({ n: t.Integer() }) }, async function* () {
    for (let n = 1; n <= 3; n++) yield { n, secret: n };
  });
  app.get("/events", { stream: "sse" }, async function* () {
    yield event({ event: "tick", data: { n: 1 }, id: "7" });
    yield "two\nlines";
  });
  app.get("/events/resume", { params: { request: OwnRequest } }, async ({ request }) => {
    return new EventSourceResponse([{ data: lastEventId(request) ?? "none" }]);
  });
  app.get("/web", async () => {
    const headers = new Headers({ "x-a": "b" });
    headers.append("set-cookie", "a=1");
    headers.append("set-cookie", "b=2");
    return new Response("web", { status: 201, headers });
  });
  app.get("/web/json", async () => Response.json({ a: 1 }));
  app.get("/web/null", async () => new Response(null, { status: 204 }));
  app.get("/web/stream", async () => {
    let count = 0;
    return new Response(
      new ReadableStream({
        pull(controller) {
          if (count++ < 3) controller.enqueue(encoder.encode(`${count} `));
          else controller.close();
        },
      }),
    );
  });
}

class SoldOutError extends Error {}

function addErrors(app) {
  app.get("/error/{status}", { params: { status: t.Integer() } }, async ({ status }) => {
    throw new HTTPException(status, status === 400 ? { reason: ["a"] } : undefined, { headers: { "x-why": "b" } });
  });
  app.get("/throw", async () => {
    throw new Error("secret");
  });
  app.get("/throw/text", async () => {
    throw "secret";
  });
  app.get("/misfit", { returns: t.Object({ a: t.Integer() }) }, async () => ({ a: "text" }));
  app.get("/cut", { returns: t.Object({ a: t.Integer() }) }, async () => ({ a: 1, password: "secret" }));
  app.exceptionHandler(SoldOutError, (error) => new JSONResponse({ detail: error.message }, { statusCode: 409 }));
  app.get("/sold-out", async () => {
    throw new SoldOutError("No lamp is left");
  });
}

function addDependencies(app, note) {
  let calls = 0;
  const getCount = async () => ++calls;
  const getTwice = withParams({ count: Depends(getCount) }, async ({ count }) => count);
  app.get("/depends/once", { params: { a: Depends(getCount), b: Depends(getTwice) } }, async ({ a, b }) => a === b);
  const opening = (key) =>
    async function* () {
      note(key, "open");
      try {
        yield "resource";
      } finally {
        note(key, "closed");
      }
    };
  app.get("/depends/open", { params: { it: Depends(opening("open")) } }, async ({ it }) => it);
  app.get("/depends/fail", { params: { it: Depends(opening("fail")) } }, async () => {
    throw new HTTPException(410);
  });
  const requireKey = withParams({ key: Query({ default: null }) }, async ({ key }) => {
    if (key !== "let-me-in") throw new HTTPException(403);
  });
  const guarded = new Router({ prefix: "/guarded", dependencies: [Depends(requireKey)] });
  guarded.get("/{id}", async ({ id }) => id);
  app.includeRouter(guarded);
  app.get("/state", { params: { request: OwnRequest } }, async ({ request }) => {
    const { region, count } = request.state;
    request.state.count = count + 1;
    return { region, count };
  });
  app.get("/tasks", { params: { tasks: BackgroundTasks } }, async ({ tasks }) => {
    tasks.addTask(async (text) => void note("task", text), "ran");
    return "accepted";
  });
  app.get("/plain/{n}", { params: { n: t.Integer() } }, ({ n }) => ({ n, isPlain: true }));
}

function addSecurity(app) {
  const bearer = new HTTPBearer();
  app.get("/auth/bearer", { params: { who: Depends(bearer) } }, async ({ who }) => who.credentials);
  const basic = new HTTPBasic({ realm: "Table" });
  app.get("/auth/basic", { params: { who: Depends(basic) } }, async ({ who }) => ({
    name: who.username,
    fits: compareSecrets(who.password, "pässword"),
  }));
  const maybe = new HTTPBearer({ autoError: false });
  app.get("/auth/maybe", { params: { who: Depends(maybe) } }, async ({ who }) => who);
  app.get("/auth/header", { params: { key: Depends(new APIKeyHeader({ name: "X-Key" })) } }, echo);
  app.get("/auth/query", { params: { key: Depends(new APIKeyQuery({ name: "key" })) } }, echo);
  app.get("/auth/cookie", { params: { key: Depends(new APIKeyCookie({ name: "key" })) } }, echo);
}

function addMiddleware(app) {
  const adding = httpMiddleware(async (request, next) => {
    const response = await next();
    response.headers.set("x-path", encodeURI(request.path));
  });
  app.get("/middle", { middleware: [adding] }, async () => "inner");
  app.get("/middle/error", { middleware: [adding] }, async () => {
    throw new HTTPException(404, "Gone fishing");
  });
  const own = httpMiddleware((request) => new OwnResponse(`own ${request.method}`, { statusCode: 503 }));
  app.get("/middle/own", { middleware: [own] }, async () => "never");
  const reading = httpMiddleware(async (request, next) => {
    const { length } = await request.body();
    (await next()).headers.set("x-length", String(length));
  });
  app.post("/middle/body", { middleware: [reading], params: { item: Item } }, async ({ item }) => item.name);
  app.post("/limited", { middleware: [bodyLimit(10)], params: { request: OwnRequest } }, async ({ request }) =>
    request.text(),
  );
  app.get("/slow", { middleware: [timeLimit(20)], params: { request: OwnRequest } }, async ({ request }) => {
    await new Promise((resolve) => void request.signal.addEventListener("abort", resolve));
  });
  app.get("/id", { middleware: [requestId({ trustIncoming: true })] }, async () => null);
  app.get("/hosts", { middleware: [trustedHost({ allowedHosts: ["example.com"] })] }, async () => "served");
  app.get("/strict", { middleware: [securityHeaders()] }, async () => "strict");
  const shared = new App({
    middleware: [cors({ allowOrigins: ["https://page.test"], allowHeaders: ["x-a"], exposeHeaders: ["x-b"] })],
  });
  shared.get("/", async () => "shared");
  app.mount("/cors", shared);
  const remembering = new App({ middleware: [sessions({ secret: "0123456789abcdef0123456789abcdef" })] });
  remembering.get("/set", { params: { request: OwnRequest } }, async ({ request }) => {
    sessionOf(request).name = "Ada";
  });
  remembering.get("/get", { params: { request: OwnRequest } }, async ({ request }) => sessionOf(request));
  remembering.get("/clear", { params: { request: OwnRequest } }, async ({ request }) => clearSession(request));
  app.mount("/session", remembering);
  const stored = new App({ middleware: [sessions({ store: memoryStore() })] });
  stored.get("/", { params: { request: OwnRequest } }, async ({ request }) => {
    sessionOf(request).name = "Ada";
    renewSession(request);
  });
  app.mount("/stored", stored);
  let paid = 0;
  app.post("/paid", { middleware: [idempotency({ store: memoryStore() })] }, async () => ++paid);
  app.post("/checked", { middleware: [csrf({ trustedOrigins: ["https://page.test"] })] }, async () => "changed");
}

function addRoutes(app) {
  app.get("/", async () => "root");
  app.get("/users/me", async () => "me");
  app.get("/users/{id}", { params: { id: t.Integer() } }, async ({ id }) => ({ id }));
  app.delete("/users/{id}", { statusCode: 204 }, async () => null);
  app.get("/users/{id}/posts/{slug}", async ({ id, slug }) => [id, slug]);
  app.get("/café/{name}", async ({ name }) => name);
  for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
    app.route("/verb", { methods: [method], name: `verb${method}` }, async () => method);
  }
  app.get("/scope", { params: { request: OwnRequest } }, async ({ request: { scope, url, client } }) => ({
    path: scope.path,
    query: new TextDecoder().decode(scope.query_string),
    method: scope.method,
    scheme: scope.scheme,
    http: scope.http_version,
    pathname: url.pathname,
    host: typeof client?.host,
  }));
  app.mount("/raw", async (scope, _receive, send) => {
    await send({ type: "http.response.start", status: 200, headers: [[encoder.encode("x-raw"), encoder.encode("1")]] });
    const told = `${scope.root_path} ${scope.path}`;
    await send({ type: "http.response.body", body: encoder.encode(told) });
  });
  app.mount(
    "/other",
    fromFetchHandler(async (request) => {
      const { pathname, search } = new URL(request.url);
      if (pathname.endsWith("/throw")) throw new Error("secret");
      if (pathname.endsWith("/status")) return new Response(null, { status: 204, headers: { "x-a": "b" } });
      const body = request.method === "POST" ? await request.text() : null;
      return Response.json({ pathname, search, method: request.method, body, a: request.headers.get("x-a") });
    }),
  );
}

function addWebSockets(app, note) {
  app.websocket("/ws/echo/{key}", async ({ ws, key }) => {
    await ws.accept({ ...(ws.subprotocols[0] && { subprotocol: ws.subprotocols[0] }), headers: { "x-a": "b" } });
    try {
      for await (const message of ws) {
        if (message === "return") return;
        if (message === "throw") throw new Error("broken");
        if (message === "close") await ws.close(4010, "own");
        if (message === "close") return;
        if (message === "wait") await new Promise((resolve) => setTimeout(resolve, 100));
        await ws.send(message);
      }
      note(key, "ended");
    } finally {
      note(key, "cleanup");
    }
  });
  app.websocket(
    "/ws/greeting/{n}",
    { params: { n: t.Integer(), q: Query({ default: "none" }) } },
    async ({ ws, n, q }) => {
      await ws.accept();
      await ws.sendJson({ n, q, cookie: ws.cookies.a ?? null, url: ws.url.protocol });
      const { told } = await ws.receiveJson();
      await ws.sendBytes(new Uint8Array([told]));
    },
  );
  app.websocket("/ws/forbidden", async () => {
    throw new HTTPException(403, "Members only", { headers: { "x-why": "b" } });
  });
  app.websocket("/ws/4004", async ({ ws }) => ws.close(4004, "no route"));
  app.websocket("/ws/refused", async ({ ws }) => ws.close());
  app.websocket("/ws/broken", async () => {
    throw new Error("secret");
  });
  app.websocket("/ws/early", async ({ ws }) => {
    try {
      note("early", "waits");
      await new Promise((resolve) => setTimeout(resolve, 50));
      await ws.accept();
      await ws.receive();
    } finally {
      note("early", "left");
    }
  });
}

async function* endless(onEnd) {
  try {
    for (;;) yield new Uint8Array(65_536);
  } finally {
    onEnd();
  }
}

/** Waits with a timer: workerd ends a request if only a promise is pending. */
async function aborted(signal) {
  while (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Streams and aborts, each told under a key. */
function addStreams(app, note) {
  let made = 0;
  app.get("/large/{mib}", { params: { mib: t.Integer() } }, async ({ mib }) => {
    made = 0;
    return new StreamingResponse(numbers(mib, () => new Uint8Array(2 ** 20).fill((made += 1))));
  });
  app.get("/made", async () => made);
  let taken = 0;
  const gate = { isOpen: false };
  app.post("/held", { params: { request: OwnRequest } }, async ({ request }) => {
    const parts = request.stream();
    taken = (await parts.next()).value.length;
    note("held", "begun");
    while (!gate.isOpen) await new Promise((resolve) => setTimeout(resolve, 1));
    for await (const part of parts) taken += part.length;
    return taken;
  });
  app.get("/taken", async () => taken);
  app.get("/release", async () => (gate.isOpen = true));
  app.get("/abort/wait/{key}", { params: { request: OwnRequest } }, async ({ request: { signal }, key }) => {
    note(key, "waits");
    await aborted(signal);
    note(key, "aborted");
  });
  app.get("/abort/stream/{key}", async ({ key }) => new StreamingResponse(endless(() => note(key, "closed"))));
  app.get("/abort/web/{key}", async ({ key }) => new Response(ReadableStream.from(endless(() => note(key, "closed")))));
  app.mount("/abort/raw", async ({ path }, receive, send) => {
    const timer = setInterval(() => {}, 5); // as above
    await send({ type: "http.response.start", status: 200, headers: [] });
    await send({ type: "http.response.body", body: new Uint8Array(1), more_body: true });
    note(path.split("/").at(-1), "waits");
    while ((await receive()).type !== "http.disconnect");
    clearInterval(timer);
    note(path.split("/").at(-1), "http.disconnect");
  });
  app.mount(
    "/abort/other",
    fromFetchHandler(async ({ url, signal }) => {
      const [key, kind] = new URL(url).pathname.split("/").slice(-2);
      if (kind === "stream")
        return new Response(new ReadableStream({ pull: fill, cancel: () => note(key, "cancelled") }));
      note(key, "waits");
      await aborted(signal);
      note(key, "aborted");
      throw signal.reason;
    }),
  );
}

const fill = (controller) => controller.enqueue(new Uint8Array(65_536));

/** Creates the application again. @param logger - The destination of its errors. */
export function createApp(logger) {
  const app = new App({
    title: "Table",
    logger,
    lifespan: async function* () {
      await new Promise((resolve) => setTimeout(resolve, 100)); // so long that a client may leave meanwhile
      yield { region: "eu", count: 1 };
    },
  });
  const notes = new Map();
  const note = (key, text) => void notes.set(key, [...(notes.get(key) ?? []), text]);
  app.get("/notes/{key}", { params: { count: t.Integer() } }, async ({ key, count }) => {
    // Cleanup runs after the response: it may not have finished.
    while ((notes.get(key)?.length ?? 0) < count) await new Promise((resolve) => setTimeout(resolve, 1));
    return notes.get(key) ?? [];
  });
  addRoutes(app);
  addParameters(app);
  addBodies(app);
  addResponses(app);
  addErrors(app);
  addDependencies(app, note);
  addSecurity(app);
  addMiddleware(app);
  addWebSockets(app, note);
  addStreams(app, note);
  return app;
}
