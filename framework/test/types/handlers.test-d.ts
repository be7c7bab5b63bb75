/** Checked by the compiler, never run: an unused `@ts-expect-error` is an error itself. */
import * as v from "valibot";
import { z } from "zod";
import {
  App,
  BackgroundTasks,
  Body,
  Cookie,
  Depends,
  event,
  File,
  Form,
  Header,
  HTTPException,
  JSONResponse,
  Path,
  Query,
  Request,
  Response,
  Router,
  Security,
  sse,
  t,
  UploadFile,
  WebSocket,
  withParams,
} from "tsgi";
import { type HTTPAuthorizationCredentials, HTTPBearer } from "tsgi/security";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <_T extends true>(): void => {};

const app = new App();
const User = t.Object({ name: t.String(), age: t.Integer(), email: t.Optional(t.String()) });

// Names, types and optionality come from the params and the path.
app.get("/items/{item_id}", { params: { item_id: t.Integer(), version: t.Integer({ default: 1 }) } }, async (args) => {
  is<Equal<typeof args, { item_id: number; version: number }>>();
  return args;
});
// A verb returns the handler: without parameters, it is called without an argument.
const ready: () => Promise<{ ready: boolean }> = app.get("/ready", async () => ({ ready: true }));
void ready();
// @ts-expect-error: this one has a parameter.
void app.get("/ready/{x}", async ({ x }) => x)();
app.get("/a/{x}/b/{y}", async ({ x, y }) => {
  is<Equal<typeof x, string>>();
  is<Equal<typeof y, string>>();
});
app.get("/a/{x}", { params: { y: t.Integer() } }, async ({ x, y }) => {
  is<Equal<typeof x, string>>();
  is<Equal<typeof y, number>>();
});
app.post(
  "/kinds/{id}",
  {
    params: {
      id: Path(t.Integer()),
      plain: Query(),
      maybe: Query({ default: null }),
      optional: Query(t.Optional(t.Integer())),
      withDefault: Query(t.Integer(), { default: 1 }),
      nullable: Header(t.Integer(), { default: null }),
      list: Query(t.Array(t.String())),
      cookie: Cookie(),
      form: Form(),
      file: File(),
      bareFile: UploadFile,
      files: File({ multiple: true }),
      maybeFile: File({ default: null, mediaTypes: ["image/*"] }),
      maybeFiles: File({ multiple: true, default: null }),
      optionalFile: File(t.Optional(t.Any())),
      listedFiles: File(t.Array(t.Any(), { maxItems: 3 })),
      date: t.Date(),
      user: User,
      whole: Body(User, { embed: true }),
      request: Request,
      response: Response,
      tasks: BackgroundTasks,
    },
  },
  async (args) => {
    is<Equal<typeof args.id, number>>();
    is<Equal<typeof args.plain, string>>();
    is<Equal<typeof args.maybe, string | null>>();
    is<Equal<typeof args.optional, number | undefined>>();
    is<Equal<typeof args.withDefault, number>>();
    is<Equal<typeof args.nullable, number | null>>();
    is<Equal<typeof args.list, string[]>>();
    is<Equal<typeof args.cookie, string>>();
    is<Equal<typeof args.form, string>>();
    is<Equal<typeof args.file, UploadFile>>();
    is<Equal<typeof args.bareFile, UploadFile>>();
    is<Equal<typeof args.files, UploadFile[]>>();
    is<Equal<typeof args.maybeFile, UploadFile | null>>();
    is<Equal<typeof args.maybeFiles, UploadFile[] | null>>();
    is<Equal<typeof args.optionalFile, UploadFile | undefined>>();
    is<Equal<typeof args.listedFiles, UploadFile[]>>();
    is<Equal<typeof args.date, Date>>();
    is<Equal<typeof args.user, { name: string; age: number; email?: string | undefined }>>();
    is<Equal<typeof args.whole.name, string>>();
    is<Equal<typeof args.request, Request>>();
    is<Equal<typeof args.response, Response>>();
    is<Equal<typeof args.tasks, BackgroundTasks>>();
    // @ts-expect-error -- no such parameter
    args.nothing;
  },
);

// Standard Schemas give their output.
app.get(
  "/standard",
  { params: { n: Query(z.coerce.number()), s: Query(v.string()), o: z.object({ a: z.string().transform(Number) }) } },
  async ({ n, s, o }) => {
    is<Equal<typeof n, number>>();
    is<Equal<typeof s, string>>();
    is<Equal<typeof o, { a: number }>>();
  },
);

// A wrong name is an error at the name.
app.get(
  "/x",
  { params: { a: Query() } },
  async ({
    a,
    // @ts-expect-error -- b is no parameter
    b,
  }) => [a, b],
);
app.get(
  "/x/{a}",
  async ({
    a,
    // @ts-expect-error -- b is not in the pattern
    b,
  }) => [a, b],
);

// A wrong result is an error at the result.
app.get("/x", { returns: User }, async () => ({ name: "a", age: 1 }));
app.get("/x", { returns: User }, async () => ({ name: "a", age: 1, extra: true }));
app.get("/x", { returns: User }, async () => new JSONResponse({}));
app.get("/x", { returns: User }, async () => globalThis.Response.json({}));
app.get("/x", { returns: User }, () => globalThis.Response.json({}));
app.get("/x", { returns: User }, () => ({ name: "a", age: 1 }));
app.get("/x", { returns: t.Array(User) }, async () => [{ name: "a", age: 1 }]);
app.get("/x", { returns: t.Object({ kind: t.Union([t.Literal("a"), t.Literal("b")]) }) }, async () => ({ kind: "a" }));
app.get("/x", { returns: t.Object({ tags: t.Array(t.String()), one: t.Array(User) }) }, async () => ({
  tags: ["a", "b"],
  one: [{ name: "a", age: 1 }],
}));
app.get("/x/{id}", { returns: t.Object({ tags: t.Array(t.String()) }) }, async ({ id }) => ({ tags: ["a", id] }));
app.get("/x/{id}", { returns: t.Array(t.Object({ tags: t.Array(t.String()) })) }, async ({ id }) => [
  { tags: ["a", id] },
]);
app.get("/x", { returns: t.Tuple([t.String(), t.Number()]) }, async () => ["a", 1]);
app.get("/x", { returns: t.Record(t.String(), t.Unknown()) }, async () => ({ anything: 1 }));
app.get("/x", { returns: z.object({ a: z.string() }) }, async () => ({ a: "x" }));
app.get("/x", { returns: User }, async () => {
  throw new HTTPException(404);
});
app.get("/x", { returns: User }, async () => {
  if (Math.random() > 0.5) return new JSONResponse({});
  return { name: "a", age: 1 };
});
app.get(
  "/x",
  { returns: User },
  // @ts-expect-error -- age is missing
  async () => ({ name: "a" }),
);
app.get(
  "/x",
  { returns: User },
  // @ts-expect-error -- age is text
  async () => ({ name: "a", age: "1" }),
);
app.get(
  "/x",
  { returns: t.Integer() },
  // @ts-expect-error -- nothing is returned
  async () => {},
);

// Path() under a name that the pattern lacks is an error on an App, at that name; a Router does not know its prefix.
app.get(
  "/x/{id}",
  {
    params: {
      // @ts-expect-error -- the pattern has no {other}
      other: Path(),
    },
  },
  async () => null,
);
app.route(
  "/x/{id}",
  {
    methods: ["GET"],
    params: {
      // @ts-expect-error -- the pattern has no {other}
      other: Path(),
    },
  },
  async () => null,
);
app.websocket(
  "/x/{id}",
  {
    params: {
      id: Path(t.Integer()),
      // @ts-expect-error -- the pattern has no {other}
      other: Path(),
    },
  },
  async () => {},
);
const router = new Router({ prefix: "/tenants/{tenant}" });
router.get("/{id}", { params: { outer: Path(t.Integer()) } }, async ({ tenant, id, outer }) => {
  is<Equal<typeof tenant, string>>();
  is<Equal<typeof id, string>>();
  is<Equal<typeof outer, number>>();
});

// A verb knows the prefix of its object, and a Router with a prefix is a Router.
const addGreeting = (target: App | Router) => target.get("/{name}", { tags: ["a"] }, async ({ name }) => name);
addGreeting(app);
addGreeting(new Router({ prefix: "/v1" }));
for (const one of [router, new Router({ prefix: "/{tenant}" })]) one.put("/x", async ({ tenant }) => tenant);
const { get } = app;
// @ts-expect-error -- it is called on nothing
get("/x", async () => null);

router.route("/{id}", { methods: ["GET"], params: { outer: Path() } }, async ({ outer }) => outer);
router.websocket("/{id}", { params: { outer: Path() } }, async ({ ws, outer }) => ws.sendText(outer));

// A bare scalar of a name outside the pattern is a query parameter, typed as the schema says.
app.get("/x", { params: { q: t.Optional(t.Integer()) } }, async ({ q }) => {
  is<Equal<typeof q, number | undefined>>();
});

// The type of a dependency is its yielded, resolved or returned value.
const getNumber = async () => 5;
const getUser = withParams({ n: Depends(getNumber), q: Query() }, async ({ n, q }) => {
  is<Equal<typeof n, number>>();
  return { id: n, q };
});
class Page {
  static params = { page: Query(t.Integer(), { default: 1 }) };
  readonly offset: number;
  constructor({ page }: { page: number }) {
    this.offset = page;
  }
}
app.get(
  "/x",
  {
    params: {
      user: Depends(getUser),
      page: Depends(Page),
      generated: Depends(async function* () {
        yield "text";
      }),
      plain: Depends(function* () {
        yield 1;
      }),
      secured: Security(getUser, { scopes: ["a"] }),
    },
  },
  async (args) => {
    is<Equal<typeof args.user, { id: number; q: string }>>();
    is<Equal<typeof args.page, Page>>();
    is<Equal<typeof args.generated, string>>();
    is<Equal<typeof args.secured, { id: number; q: string }>>();
  },
);
// Optional credentials may be absent.
const bearer = new HTTPBearer();
const getCaller = withParams({ token: Depends(bearer) }, async ({ token }) => token.credentials);
declare const isOptional: boolean;
app.get(
  "/optional",
  {
    params: {
      maybe: Depends(getCaller, { optional: true }),
      scheme: Depends(bearer, { optional: true, useCache: false }),
      secured: Security(getCaller, { scopes: ["a"], optional: true }),
      either: Depends(getCaller, { optional: isOptional }),
      required: Depends(getCaller, { optional: false }),
      usual: Depends(getCaller, { scope: "function" }),
    },
  },
  async (args) => {
    is<Equal<typeof args.maybe, string | null>>();
    is<Equal<typeof args.scheme, HTTPAuthorizationCredentials | null>>();
    is<Equal<typeof args.secured, string | null>>();
    is<Equal<typeof args.either, string | null>>();
    is<Equal<typeof args.required, string>>();
    is<Equal<typeof args.usual, string>>();
  },
);
// @ts-expect-error -- it takes arguments and carries no params
Depends(async ({ q }: { q: string }) => q);

// A direct call of a function with params is checked against the function.
void getUser({ n: 1, q: "x" });
// @ts-expect-error -- q is missing
void getUser({ n: 1 });

// A handler may carry its params; both forms give it back.
const handler = withParams({ a: Query(t.Integer()) }, async ({ a }) => ({ name: "x", age: a }));
app.get("/x", handler);
app.get("/x", { returns: User, tags: ["x"] }, handler);
app.get("/x", { params: { b: Query() } }, handler);
app.get("/x/{id}", {}, handler);
const wrong = withParams({ a: Query() }, async ({ a }) => ({ name: a }));
// @ts-expect-error -- the result of the handler lacks age
app.get("/x", { returns: User }, wrong);
const decorated = app.get("/x/{id}", { returns: User })(async ({ id }) => ({ name: id, age: 1 }));
is<Equal<Parameters<typeof decorated>[0]["id"], string>>();
is<Equal<ReturnType<typeof decorated>, Promise<{ name: string; age: number; email?: string }>>>();
const registered = app.get("/x/{id}", { params: { n: t.Integer() } }, async ({ n }) => n);
is<Equal<Awaited<ReturnType<typeof registered>>, number>>();
// A direct call of a route is checked where it names values of the request. Its dependencies may be of any type.
const dependent = app.get("/x/{id}", { params: { n: t.Integer(), db: Depends(getNumber) } }, async () => new Date());
void dependent({ id: "a", n: 1, db: { fake: true } });
// @ts-expect-error -- n is a number
void dependent({ id: "a", n: "1", db: 1 });
// @ts-expect-error -- db is missing
void dependent({ id: "a", n: 1 });
// Only the client's type reflects the changes of JSON.
is<Equal<ReturnType<typeof dependent>, unknown>>();

// route() is typed as the verbs are.
app.route("/r/{id}", { methods: ["GET", "POST"], params: { q: t.Integer() } }, async ({ id, q }) => {
  is<Equal<typeof id, string>>();
  is<Equal<typeof q, number>>();
});
app.route(
  "/r",
  { methods: ["GET"], returns: User },
  // @ts-expect-error -- age is missing
  async () => ({ name: "a" }),
);
// Its methods are options, so that a form without them does not exist.
// @ts-expect-error -- a handler in the place of the options
app.route("/r", async () => null);
const decoratedRoute = app.route("/r/{id}", { methods: ["PUT"] })(async ({ id }) => id);
is<Equal<Parameters<typeof decoratedRoute>[0]["id"], string>>();
// Of a generator, `returns` is the type of each item.
app.get("/x", { returns: User, stream: "sse" }, async function* () {
  yield { name: "a", age: 1 };
});
// For events it is the type of their data, which may be yielded directly or in an event that `event()` marks.
app.get("/x", { returns: User, stream: "sse" }, async function* () {
  yield { name: "a", age: 1 };
  yield event({ id: 1, retry: 10, event: "user", data: { name: "a", age: 1 } });
});
app.get(
  "/x",
  { returns: User, stream: "sse" },
  // @ts-expect-error -- an event that is not marked would be data
  async function* () {
    yield { event: "user", data: { name: "a", age: 1 } };
  },
);
// A comment or a `retry` has no data.
app.get("/x", { returns: User, stream: "sse" }, async function* () {
  yield event({ comment: "still here" });
});
app.get(
  "/x",
  { returns: User, stream: "sse" },
  // @ts-expect-error -- age is missing
  async function* () {
    yield event({ data: { name: "a" } });
  },
);
// Each named event has the type of its own data.
const Level = t.Union([t.Literal("low"), t.Literal("high")]);
const events = sse({ user: User, level: Level, day: z.date(), done: t.Null() });
app.get("/x", { returns: events, stream: "sse" }, async function* () {
  yield { event: "user", data: { name: "a", age: 1 }, id: "1", retry: 10 };
  yield { event: "level", data: "low" };
  yield { event: "day", data: new Date() };
  yield { event: "done", data: null };
});
app.get("/x", { returns: events, stream: "sse" }, async function* () {
  yield { event: "level", data: "low" };
  yield event({ retry: 1000 });
});
app.get("/x", { returns: events, stream: "sse" }, async () => [{ event: "level", data: "low" }]);
new Router().get("/x", { returns: events, stream: "sse" })(async function* () {
  yield { event: "level" as const, data: "low" as const };
});
app.get(
  "/x",
  { returns: events, stream: "sse" },
  // @ts-expect-error -- no such event
  async function* () {
    yield { event: "level", data: "low" };
    yield { event: "lvl", data: "low" };
  },
);
app.get(
  "/x",
  { returns: events, stream: "sse" },
  // @ts-expect-error -- data of another event
  async function* () {
    yield { event: "done", data: "low" };
  },
);
app.get(
  "/x",
  { returns: events, stream: "sse" },
  // @ts-expect-error -- id is text or a number
  async function* () {
    yield { event: "done", data: null, id: {} };
  },
);
// @ts-expect-error -- text is no schema
sse({ user: "User" });
app.get("/x", { returns: User }, function* () {
  yield { name: "a", age: 1 };
});
app.get(
  "/x",
  { returns: User },
  // @ts-expect-error -- age is missing
  async function* () {
    yield { name: "a" };
  },
);
// A union of several schemas has the value of each.
const schemas = [z.object({ a: z.string() }), v.object({ a: v.string() })] as const;
app.get("/x", { params: { o: Query(schemas[Math.random() > 0.5 ? 0 : 1]) } }, async ({ o }) => {
  is<Equal<typeof o.a, string>>();
});
// The default of a literal is that literal, and options next to it are not mistaken for schemas.
app.get(
  "/x",
  { params: { sort: Query(t.Union([t.Literal("asc"), t.Literal("desc")]), { default: "asc" }) } },
  async ({ sort }) => {
    is<Equal<typeof sort, "asc" | "desc">>();
  },
);
app.get("/x/{id}", { params: { other: Path({ alias: "id" }) } }, async ({ other }) => {
  is<Equal<typeof other, string>>();
});
// A concatenated path is checked only at registration.
app.get(`${String(Math.random())}/x`, async () => null);
// Of options without a schema each counts by itself, and a default may be one of several values.
declare const start: "a" | null;
declare const limits: { alias: string; description: string };
app.get(
  "/x",
  { params: { a: Query({ default: start }), b: Header({ alias: "X-B" }), c: Cookie({ ...limits }), d: Form({}) } },
  async (args) => {
    is<Equal<typeof args.a, string | null>>();
    is<Equal<typeof args.b, string>>();
    is<Equal<typeof args.c, string>>();
    is<Equal<typeof args.d, string>>();
  },
);
// @ts-expect-error -- no such option
Query({ alias: "b", embed: true });
// @ts-expect-error -- an alias is text
Query({ alias: 1 });
// A list as default is a list.
app.get("/x", { params: { tags: Query(t.Array(t.String()), { default: [] }) } }, async ({ tags }) => {
  is<Equal<typeof tags, string[]>>();
});
export const marker = Path(t.Integer());
export const verb = app.get;

// Options are checked.
app.get(
  "/x",
  {
    // @ts-expect-error -- a status is a number
    statusCode: "200",
  },
  async () => null,
);
app.get(
  "/x",
  {
    params: {
      // @ts-expect-error -- text is no annotation
      q: "string",
    },
  },
  async () => null,
);
app.exceptionHandler(HTTPException, (error, request) => {
  is<Equal<typeof error, HTTPException>>();
  is<Equal<typeof request, Request>>();
});

// The messages of a WebSocket have the types of its schemas.
const Said = t.Object({ text: t.String(), at: t.Date() });
const Told = t.Union([t.Object({ kind: t.Literal("text"), text: t.String() }), t.Object({ kind: t.Literal("end") })]);
app.websocket("/x/{room}", { receives: Said, sends: Told, params: { n: t.Integer() } }, async ({ ws, room, n }) => {
  is<Equal<typeof room, string>>();
  is<Equal<typeof n, number>>();
  const message = await ws.receiveJson();
  is<Equal<typeof message, { text: string; at: Date }>>();
  for await (const { at } of ws) is<Equal<typeof at, Date>>();
  await ws.sendJson({ kind: "text", text: "a" });
  await ws.sendJson({ kind: "end" });
  // @ts-expect-error -- text is missing
  await ws.sendJson({ kind: "text" });
  // @ts-expect-error -- no such kind
  await ws.sendJson({ kind: "start" });
});
app.websocket("/x", { receives: z.object({ n: z.string().transform(Number) }) }, async ({ ws }) => {
  for await (const message of ws) is<Equal<typeof message, { n: number }>>();
  await ws.sendJson({ anything: 1 });
});
// Without the options their types are unknown.
app.websocket("/x", { tags: ["a"] }, async ({ ws }) => {
  is<Equal<Awaited<ReturnType<typeof ws.receiveJson>>, unknown>>();
  for await (const message of ws) is<Equal<typeof message, string | Uint8Array>>();
});
app.websocket("/x", async ({ ws }) => {
  is<Equal<typeof ws, WebSocket>>();
});
app.websocket("/x", { params: { socket: WebSocket } }, async ({ socket }) => {
  await socket.sendJson({ anything: 1 });
});
new Router({ prefix: "/{room}" }).websocket("/x", { receives: Said })(async ({ ws, room }) => {
  is<Equal<typeof room, string>>();
  for await (const { text } of ws) is<Equal<typeof text, string>>();
});
// @ts-expect-error -- text is no schema
app.websocket("/x", { receives: "text" }, async () => null);
// @ts-expect-error -- a result of a WebSocket goes nowhere
app.websocket("/x", { returns: User }, async () => null);
