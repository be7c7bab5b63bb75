/** The application of reference.py as we have it. */
import { cors, compress } from "../../core/src/middleware/index.js";
import {
  App,
  BackgroundTasks,
  Body,
  Cookie,
  Depends,
  File,
  FileResponse,
  Form,
  Header,
  HTMLResponse,
  HTTPException,
  JSONResponse,
  PlainTextResponse,
  Query,
  RedirectResponse,
  Request,
  Response,
  Router,
  StaticFiles,
  StreamingResponse,
  t,
  withParams,
} from "../../core/src/index.js";
import { APIKeyCookie } from "../../core/src/parameters/security/api-key.js";
import { HTTPBasic, HTTPBearer } from "../../core/src/parameters/security/http.js";
import { OAuth2PasswordBearer, OAuth2PasswordRequestForm } from "../../core/src/parameters/security/oauth2.js";
import { KeptLog } from "../support/kept-log.js";

const Item = t.Object({ name: t.String(), price: t.Number(), tags: t.Array(t.String(), { default: [] }) });
const User = t.Object({ username: t.String() });
const Public = t.Object({ username: t.String(), disabled: t.Boolean({ default: false }) });
const nullable = <T extends Parameters<typeof t.Union>[0][number]>(schema: T) =>
  t.Union([schema, t.Null()], { default: null });
const Strict = t.Object({
  count: t.Integer(),
  ratio: t.Number({ default: 0.5 }),
  flag: t.Boolean({ default: false }),
  note: nullable(t.String()),
  when: nullable(t.Date()),
});

class Teapot extends Error {}

/** Routes for text, numbers and errors. */
function addValues(app: App): void {
  app.exceptionHandler(Teapot, () => new JSONResponse({ teapot: true }, { statusCode: 418 }));
  app.get("/json", async () => ({ a: 1, b: [true, null], c: "é" }));
  app.get("/null", async () => null);
  app.get("/float", async () => ({ whole: 1, part: 1.5, large: 1e21 }));
  app.get("/string", async () => "text");
  app.get("/plain", async () => new PlainTextResponse("hello"));
  app.get("/html", async () => new HTMLResponse("<p>hello</p>"));
  app.post("/created", { statusCode: 201 }, async () => ({ created: true }));
  app.delete("/gone", { statusCode: 204 }, async () => null);
  app.get("/public", { returns: Public }, async () => ({ username: "ada", password: "secret" }) as never);
  app.get("/teapot", async () => {
    throw new Teapot();
  });
  app.get("/refused", async () => {
    throw new HTTPException(409, { reason: "taken" }, { headers: { "X-Reason": "taken" } });
  });
  app.get("/phrase", async () => {
    throw new HTTPException(404);
  });
  app.get("/boom", async () => {
    throw new Error("secret");
  });
}

/** Parameters of path, query, headers and cookies. */
function addParameters(app: App): void {
  app.get("/items/{item_id}", { params: { item_id: t.Integer() } }, async ({ item_id }) => ({ item_id }));
  app.get("/prices/{price}", { params: { price: t.Number() } }, async ({ price }) => ({ price }));
  app.get("/flags/{flag}", { params: { flag: t.Boolean() } }, async ({ flag }) => ({ flag }));
  app.get("/names/{name}", async ({ name }) => ({ name }));
  const Color = t.Union([t.Literal("red"), t.Literal("green")]);
  app.get("/colors/{color}", { params: { color: Color } }, async ({ color }) => ({ color }));
  app.get("/positive/{n}", { params: { n: t.Integer({ exclusiveMinimum: 0 }) } }, async ({ n }) => ({ n }));
  app.get("/days/{day}", { params: { day: t.String({ format: "date" }) } }, async ({ day }) => ({ day }));
  app.get("/users/me", async () => "me");
  app.get("/users/{user_id}", async ({ user_id }) => user_id);
  app.get(
    "/search",
    {
      params: {
        q: t.String(),
        skip: t.Integer({ default: 0 }),
        note: Query({ default: null }),
        tags: t.Array(t.String(), { default: [] }),
      },
    },
    async ({ q, skip, note, tags }) => ({ q, skip, note, tags }),
  );
  app.get(
    "/bounds",
    {
      params: {
        n: t.Integer({ minimum: 1, maximum: 10 }),
        s: t.String({ default: "abc", minLength: 2, maxLength: 5, pattern: "^[a-z]+$" }),
      },
    },
    async ({ n, s }) => ({ n, s }),
  );
  app.get("/alias", { params: { q: Query({ alias: "item-query" }) } }, async ({ q }) => q);
  app.get(
    "/headers",
    { params: { user_agent: Header({ default: null }), x_token: Header() } },
    async ({ user_agent, x_token }) => ({ user_agent, x_token }),
  );
  app.get(
    "/header-list",
    { params: { x_many: Header(t.Array(t.String()), { default: [] }) } },
    async ({ x_many }) => x_many,
  );
  app.get("/cookies", { params: { session: Cookie({ default: null }) } }, async ({ session }) => ({ session }));
  const key = new APIKeyCookie({ name: "key" });
  app.get("/cookie-key", { params: { key: Depends(key) } }, async (args) => args);
}

/** Bodies, forms and files. */
function addBodies(app: App): void {
  app.post("/item", { params: { item: Item } }, async ({ item }) => item);
  app.post("/embedded", { params: { item: Body(Item, { embed: true }) } }, async ({ item }) => item);
  app.post(
    "/two",
    { params: { item: Item, user: User, importance: Body(t.Integer()) } },
    async ({ item, user, importance }) => ({ item, user, importance }),
  );
  app.post("/list", { params: { items: t.Array(Item) } }, async ({ items }) => items);
  app.post("/strict", { params: { body: Strict }, returns: Strict }, async ({ body }) => body);
  app.post("/optional", { params: { item: Body(Item, { default: null }) } }, async ({ item }) => item);
  app.put(
    "/items/{item_id}",
    { params: { item_id: t.Integer(), item: Item, q: Query({ default: null }) } },
    async ({ item_id, item, q }) => ({ item_id, name: item.name, q }),
  );
  app.post(
    "/form",
    { params: { username: Form(), age: Form(t.Integer(), { default: 0 }) } },
    async ({ username, age }) => ({ username, age }),
  );
  app.post("/login", { params: { form: Depends(OAuth2PasswordRequestForm) } }, async ({ form }) => ({
    username: form.username,
    scopes: form.scopes,
  }));
  app.post("/file", { params: { upload: File() } }, async ({ upload }) => ({
    filename: upload.filename,
    type: upload.contentType,
    size: (await upload.read()).length,
  }));
  app.post("/files", { params: { note: Form(), uploads: File({ multiple: true }) } }, async ({ note, uploads }) => ({
    note,
    files: uploads.map(({ filename }) => filename),
  }));
  app.post("/bytes", { params: { upload: File() } }, async ({ upload }) => (await upload.read()).length);
  app.post("/raw", { params: { request: Request } }, async ({ request }) => ({ bytes: (await request.body()).length }));
}

/** Responses of every kind. */
function addResponses(app: App, folder: string): void {
  app.get("/redirect", async () => new RedirectResponse("/json"));
  app.get("/redirect/303", async () => new RedirectResponse("/names/é b", { statusCode: 303 }));
  app.get("/set-cookie", { params: { response: Response } }, async ({ response }) => {
    response.setCookie("session", "abc", { httpOnly: true, maxAge: 60, path: "/" });
    response.headers.set("X-Draft", "yes");
    return { set: true };
  });
  app.get("/delete-cookie", { params: { response: Response } }, async ({ response }) => {
    response.deleteCookie("session");
    return { set: false };
  });
  app.get("/draft-status", { params: { response: Response } }, async ({ response }) => {
    response.statusCode = 202;
    return null;
  });
  app.get("/stream", async () => new StreamingResponse(["a", "b", "c"], { mediaType: "text/plain" }));
  app.get("/download", async () => new FileResponse(`${folder}/data.txt`, { filename: "data é.txt" }));
  app.get("/big", async () => ({ text: "x".repeat(2000) }));
  app.get("/state", { params: { request: Request } }, async ({ request }) => ({
    path: request.url.pathname,
    query: request.url.search.slice(1),
    method: request.method,
  }));
  app.get("/background", { params: { tasks: BackgroundTasks } }, async ({ tasks }) => {
    tasks.addTask(() => {});
    return "done";
  });
}

const needToken = withParams({ x_token: Header() }, async ({ x_token }) => {
  if (x_token !== "good") throw new HTTPException(400, "X-Token header invalid");
});

/** Dependencies, security, routers and mounts. */
function addStructure(app: App, folder: string): void {
  const common = withParams({ q: Query({ default: null }), skip: t.Integer({ default: 0 }) }, async ({ q, skip }) => ({
    q,
    skip,
  }));
  const nested = withParams({ common: Depends(common) }, async (values) => ({ nested: values.common }));
  app.get("/depends", { params: { value: Depends(nested) } }, async ({ value }) => value);
  app.get("/guarded", { dependencies: [Depends(needToken)], params: { n: t.Integer() } }, async ({ n }) => n);
  app.get(
    "/bearer",
    { params: { token: Depends(new OAuth2PasswordBearer({ tokenUrl: "login" })) } },
    async ({ token }) => token,
  );
  app.get(
    "/http-bearer",
    { params: { credentials: Depends(new HTTPBearer()) } },
    async ({ credentials }) => credentials.credentials,
  );
  app.get("/basic", { params: { credentials: Depends(new HTTPBasic()) } }, async ({ credentials }) => ({
    username: credentials.username,
  }));
  const router = new Router({ prefix: "/v1" });
  router.get("/things", async () => ["a"]);
  router.get("/slash/", async () => "slash");
  app.includeRouter(router);
  const inner = new App({ logger: new KeptLog() });
  inner.get("/here", { params: { request: Request } }, async ({ request }) => ({ root_path: request.scope.root_path }));
  app.mount("/inner", inner);
  app.mount("/static", new StaticFiles(folder, { html: true }));
}

function addWebSockets(app: App): void {
  app.websocket("/ws/echo", async ({ ws }) => {
    await ws.accept();
    for (;;) await ws.sendText(await ws.receiveText());
  });
  app.websocket("/ws/protocol", async ({ ws }) => {
    await ws.accept({ subprotocol: ws.subprotocols[0] as string, headers: { "x-room": "7" } });
    await ws.sendJson({ n: 1 });
  });
  app.websocket("/ws/bytes", async ({ ws }) => {
    await ws.accept();
    await ws.sendBytes(await ws.receiveBytes());
    await ws.close(4321, "enough");
  });
  app.websocket("/ws/typed/{n}", { params: { n: t.Integer(), q: Query() } }, async ({ ws, n, q }) => {
    await ws.accept();
    await ws.sendJson({ n, q });
    await ws.close();
  });
  app.websocket("/ws/refused", async ({ ws }) => ws.close(1008));
  app.websocket("/ws/early", async ({ ws }) => ws.close(4001, "early"));
  app.websocket("/ws/guarded", { dependencies: [Depends(needToken)] }, async ({ ws }) => ws.accept());
  app.websocket("/ws/boom", async ({ ws }) => {
    await ws.accept();
    throw new Error("secret");
  });
  app.websocket("/ws/json", async ({ ws }) => {
    await ws.accept();
    await ws.sendJson(await ws.receiveJson());
  });
  app.websocket("/ws/end", async ({ ws }) => {
    await ws.accept();
    await ws.sendText("last");
  });
}

/** @param folder - Files to send. */
export function createApp(folder: string): App {
  const app = new App({ logger: new KeptLog() });
  addValues(app);
  addParameters(app);
  addBodies(app);
  addResponses(app, folder);
  addStructure(app, folder);
  addWebSockets(app);
  app.addMiddleware(compress({ minimumSize: 1000 }));
  app.addMiddleware(
    cors({
      allowOrigins: ["https://a.example"],
      allowMethods: ["GET", "POST"],
      allowHeaders: ["X-Token"],
      allowCredentials: true,
      exposeHeaders: ["X-Draft"],
    }),
  );
  return app;
}
