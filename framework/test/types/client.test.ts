import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { compile, compilers } from "../support/typescript.js";

const ROUTES = `import { Router, sse, t } from "tsgi";
const router = new Router({ prefix: "/items" });
const Item = t.Object({ id: t.Integer(), name: t.String(), due: t.Optional(t.Date()) });
const NewItem = t.Object({ name: t.String(), amount: t.Integer({ default: 1 }) });
export const readItem = router.get(
  "/{item_id}",
  { params: { item_id: t.Integer(), version: t.Integer({ default: 1 }) }, returns: Item, responses: { 404: { schema: t.Object({ missing: t.Boolean() }) } } },
  async ({ item_id }) => ({ id: item_id, name: "a" }),
);
export const addItem = router.post("", { params: { item: NewItem }, returns: Item }, async () => ({ id: 1, name: "a" }));
export const events = router.get("/events/all", { stream: "sse", returns: sse({ token: Item, done: t.Null() }) }, async function* () {
  yield { event: "done", data: null };
});
const opened: Record<string, unknown> = {};
export const checkItem = router.put("/check/{item_id}", { params: { item_id: t.Integer() }, responses: { 422: { schema: t.Object({ reason: t.String() }) }, 409: { schema: t.Null() } } }, async () => null);
export const describeItem = router.put("/describe/{item_id}", { params: { item_id: t.Integer() }, responses: { 422: { description: "Not an item" } } }, async () => null);
const [path, nothing] = ["/items" as string, null];
export { Item, nothing, opened, path, router };
`;

const SECURED = `import { Depends, Header, Query, Router, Security, SecurityScopes, t, withParams, type Marker, type Params } from "tsgi";
import { APIKeyCookie, APIKeyHeader, APIKeyQuery, HTTPBasic, HTTPBearer, OAuth2PasswordBearer, SecurityScheme } from "tsgi/security";
const router = new Router();
class Signature extends SecurityScheme<string, true> {
  constructor() {
    const source: Marker<readonly string[]> = Header(t.Array(t.String(), { default: [] }), { alias: "X-Signature" });
    super({}, { defaultName: "Signature", definition: { type: "apiKey", in: "header", name: "X-Signature" }, source, parse: (text) => text, challenge: "Signature" });
  }
}
const getUser = withParams({ token: Depends(new HTTPBearer()), asked: SecurityScopes }, async ({ token }) => ({ id: token.credentials }));
const getAdmin = withParams({ user: Security(getUser, { scopes: ["admin"] }) }, async ({ user }) => user);
class Session {
  static params = { user: Depends(getAdmin), page: Query(t.Integer()) };
  readonly id: string;
  constructor({ user, page }: { user: { id: string }; page: number }) {
    this.id = user.id + page;
  }
}
/** Of params without names nothing is known. */
class Wide {
  static params: Params = { a: Query() };
}
export const bearer = router.get("/bearer", { params: { token: Depends(new HTTPBearer()) } }, async ({ token }) => token);
export const basic = router.get("/basic", { params: { user: Depends(new HTTPBasic()) } }, async ({ user }) => user.username);
export const token = router.get("/token", { params: { token: Depends(new OAuth2PasswordBearer({ tokenUrl: "/token" })) } }, async ({ token }) => token);
export const keys = router.get("/keys", { params: { a: Depends(new APIKeyHeader({ name: "a" })), b: Depends(new APIKeyQuery({ name: "b" })), c: Depends(new APIKeyCookie({ name: "c" })) } }, async ({ a, b, c }) => [a, b, c]);
export const signed = router.get("/signed", { params: { by: Depends(new Signature()) } }, async ({ by }) => by);
export const maybe = router.get("/maybe", { params: { token: Depends(new HTTPBearer({ autoError: false })) } }, async ({ token }) => token?.scheme ?? null);
export const nested = router.get("/nested/{id}", { params: { user: Depends(getUser), id: t.Integer() } }, async ({ user }) => user);
export const scoped = router.put("/scoped", { params: { user: Security(getAdmin, { scopes: ["write"] }), item: t.Object({ name: t.String() }) } }, async ({ user }) => user);
export const session = router.get("/session", { params: { session: Depends(Session) } }, async ({ session }) => session.id);
export const wide = router.get("/wide", { params: { wide: Depends(Wide) } }, async () => 1);
export const carried = router.get("/carried", getAdmin);
export const decorated = router.get("/decorated", { params: { user: Depends(getUser) } })(async ({ user }) => user);
export const socket = router.websocket("/socket", { params: { user: Depends(getUser) } }, async ({ ws }) => ws.accept());
`;

/** Calls of routes with security schemes: a scheme adds no arguments. */
const SECURED_PROGRAM = `import type * as secured from "./secured.js";
import { type ApiOf, createClient } from "@tsgi/client";
const client = createClient<ApiOf<typeof secured>>();
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <_T extends true>(): void => {};
const headers = { authorization: "Bearer a" };
const { data } = await client.GET("/bearer", { headers });
is<Equal<typeof data, { readonly scheme: string; readonly credentials: string } | undefined>>();
await client.GET("/bearer");
await client.GET("/basic");
await client.GET("/token", { headers });
await client.GET("/keys");
await client.GET("/signed");
await client.GET("/maybe");
await client.GET("/nested/{id}", { params: { path: { id: 1 } }, headers });
await client.PUT("/scoped", { body: { name: "a" }, headers });
await client.GET("/session", { params: { query: { page: 1 } }, headers });
await client.GET("/wide");
await client.GET("/carried", { headers });
await client.GET("/decorated", { headers });
client.websocket("/socket");
// @ts-expect-error -- a scheme is no body
await client.GET("/bearer", { body: {} });
// @ts-expect-error -- page is missing
await client.GET("/session");
`;

/** Routes whose errors are declared around them, and by their dependencies. */
const DECLARED = `import { App, Depends, Header, Path, Router, t, withParams } from "tsgi";
import { HTTPBearer } from "tsgi/security";
const error = <const Code extends string>(code: Code) => t.Object({ code: t.Literal(code) });
const app = new App({ responses: { 503: { schema: error("away") } } });
const router = new Router({ prefix: "/documents", responses: { 429: { schema: error("limited") }, 200: { schema: t.String() }, 304: {} } });
const getUser = withParams({ token: Depends(new HTTPBearer()) }, async ({ token }) => ({ name: token.credentials }), { responses: { 401: { schema: error("unauthorized") } } });
const findDocument = withParams({ id: Path(t.Integer()), user: Depends(getUser) }, async ({ id }) => ({ id }), { responses: { 404: { schema: error("missing"), description: "No such document" } } });
class Quota {
  static params = { user: Depends(getUser) };
}
const readTenant = withParams({ tenant: Header() }, async ({ tenant }) => tenant);
const checkQuota = withParams({ quota: Depends(Quota) }, async () => {}, { responses: { 402: { schema: error("quota") } } });
const invalid = withParams({}, async () => {}, { responses: { 422: { schema: error("invalid") } } });
export const read = router.get("/{id}", { params: { document: Depends(findDocument) }, returns: t.Object({ id: t.Integer() }), responses: { 404: { schema: error("deleted") }, 409: { schema: error("conflict") } } }, async ({ document }) => document);
export const create = router.post("", { dependencies: [Depends(checkQuota), Depends(invalid)], params: { name: t.String() } }, async () => 1);
export const ping = app.get("/ping", async () => 1);
export const guarded = app.get("/guarded", { dependencies: [Depends(readTenant)] }, async () => 1);
export const carried = app.get("/carried/{id}", findDocument);
export const decorated = router.delete("/{id}", { params: { document: Depends(findDocument) } })(async ({ document }) => document);
export const both = app.route("/both", { methods: ["GET", "PUT"], params: { user: Depends(getUser) } }, async ({ user }) => user.name);
export const head = app.head("/ping", { params: { user: Depends(getUser) } }, async () => null);
export const silent = new Router().get("/silent", async () => 1);
`;

const DECLARED_PROGRAM = `import type * as declared from "./declared.js";
import { type ApiOf, createClient, type HTTPValidationError } from "@tsgi/client";
const client = createClient<ApiOf<typeof declared>>();
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Codes<T> = Exclude<T, HTTPValidationError | undefined> extends { code: infer Code } ? Code : never;
type HasInvalid<T> = HTTPValidationError extends T ? true : false;
const is = <_T extends true>(): void => {};
const params = { path: { id: 1 } };
const { data, error } = await client.GET("/documents/{id}", { params });
is<Equal<typeof data, { id: number } | undefined>>();
is<Equal<Codes<typeof error>, "limited" | "unauthorized" | "missing" | "deleted" | "conflict">>();
is<HasInvalid<typeof error>>();
const created = await client.POST("/documents", { params: { query: { name: "a" } } });
is<Equal<Codes<typeof created.error>, "limited" | "unauthorized" | "quota" | "invalid">>();
is<Equal<HasInvalid<typeof created.error>, false>>();
const pinged = await client.GET("/ping");
is<Equal<typeof pinged.error, { code: "away" } | undefined>>();
const guarded = await client.GET("/guarded");
is<Equal<typeof guarded.error, { code: "away" } | HTTPValidationError | undefined>>();
const carried = await client.GET("/carried/{id}", { params });
is<Equal<Codes<typeof carried.error>, "away" | "unauthorized" | "missing">>();
const deleted = await client.DELETE("/documents/{id}", { params });
is<Equal<Codes<typeof deleted.error>, "limited" | "unauthorized" | "missing">>();
const both = await client.PUT("/both");
is<Equal<typeof both.error, { code: "away" } | { code: "unauthorized" } | undefined>>();
const head = await client.HEAD("/ping");
is<Equal<Codes<typeof head.error>, "away" | "unauthorized">>();
const silent = await client.GET("/silent");
is<Equal<typeof silent.error, unknown>>();
`;

/** The same errors as problem details. */
const PROBLEM_PROGRAM = `import type * as declared from "./declared.js";
import { type ApiOf, createClient, type ProblemDetails, type ValidationProblem } from "@tsgi/client";
const client = createClient<ApiOf<typeof declared>, { problemDetails: true }>();
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <_T extends true>(): void => {};
const { error } = await client.GET("/documents/{id}", { params: { path: { id: 1 } } });
switch (error?.status) {
  case 404:
    is<Equal<typeof error.code, "missing" | "deleted">>();
    is<Equal<typeof error.title, string>>();
    break;
  case 422:
    is<Equal<typeof error, ValidationProblem>>();
    break;
  case 401:
  case 409:
  case 429:
  case undefined:
    break;
  default:
    error satisfies never;
}
const { error: refused } = await client.POST("/documents", { params: { query: { name: "a" } } });
if (refused && refused.status === 422) is<Equal<typeof refused.code, "invalid">>();
const silent = await client.GET("/silent");
is<Equal<typeof silent.error, ProblemDetails | undefined>>();
is<Equal<typeof silent.data, number | undefined>>();
`;

/** The same errors in a format, and with another status of validation errors. */
const FORMAT_PROGRAM = `import type * as declared from "./declared.js";
import { errorFormat, t } from "tsgi";
import { type ApiOf, createClient, type HTTPValidationError } from "@tsgi/client";
const errors = errorFormat({ schema: t.Object({ message: t.String() }), validationStatus: 400, write: ({ title }) => ({ message: title }) });
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <_T extends true>(): void => {};
type Body = { message: string };
const client = createClient<ApiOf<typeof declared>, { errorFormat: typeof errors }>();
const { data, error } = await client.GET("/documents/{id}", { params: { path: { id: 1 } } });
is<Equal<typeof data, { id: number } | undefined>>();
if (error && "code" in error) is<Equal<typeof error.code, "limited" | "unauthorized" | "missing" | "deleted" | "conflict">>();
else is<Equal<typeof error, Body | undefined>>();
const guarded = await client.GET("/guarded");
is<Equal<typeof guarded.error, { code: "away" } | Body | undefined>>();
const silent = await client.GET("/silent");
is<Equal<typeof silent.error, Body | undefined>>();
const kind = t.Object({ kind: t.Literal("error"), tags: t.Array(t.Object({ is: t.Literal("tag") })) });
errorFormat({ schema: kind, write: () => ({ kind: "error", tags: [{ is: "tag" }] }) });
errorFormat({ schema: kind, write: ({ issues }) => ({ kind: "error", tags: (issues ?? []).map(() => ({ is: "tag" }) as const) }) });
// @ts-expect-error -- a property that is missing
errorFormat({ schema: kind, write: ({ status }) => ({ kind: "error" }) });
// @ts-expect-error -- a body that does not fit
errorFormat({ schema: t.Object({ message: t.String() }), write: ({ status }) => ({ message: status }) });
// @ts-expect-error -- the detail may be any value
errorFormat({ schema: t.Object({ message: t.String() }), write: ({ detail }) => ({ message: detail }) });
const plain = createClient<ApiOf<typeof declared>, { validationStatus: 400 }>();
const invalid = await plain.GET("/guarded");
is<Equal<typeof invalid.error, { code: "away" } | HTTPValidationError | undefined>>();
const conflict = createClient<ApiOf<typeof declared>, { validationStatus: 409 }>();
const replaced = await conflict.GET("/documents/{id}", { params: { path: { id: 1 } } });
is<Equal<HTTPValidationError extends typeof replaced.error ? true : false, false>>();
`;

const HEAD = `import type * as items from "./routes.js";
import { type ApiOf, createClient, type HTTPValidationError } from "@tsgi/client";
const client = createClient<ApiOf<typeof items, "/v1">>({ baseUrl: "http://127.0.0.1:8000" });
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <_T extends true>(): void => {};
`;

const PROGRAM = `${HEAD}
is<Equal<Parameters<typeof client.GET>[0], "/v1/items/{item_id}" | "/v1/items/events/all">>();
const { data, error } = await client.GET("/v1/items/{item_id}", { params: { path: { item_id: 1 } } });
is<Equal<typeof data, { id: number; name: string; due?: string } | undefined>>();
if (error && "missing" in error) is<Equal<typeof error.missing, boolean>>();
await client.POST("/v1/items", { body: { name: "a" } });
const checked = await client.PUT("/v1/items/check/{item_id}", { params: { path: { item_id: 1 } } });
is<Equal<typeof checked.error, { reason: string } | null | undefined>>();
const described = await client.PUT("/v1/items/describe/{item_id}", { params: { path: { item_id: 1 } } });
is<Equal<typeof described.error, HTTPValidationError | undefined>>();
const stream = await client.GET("/v1/items/events/all");
for await (const event of stream.data ?? []) {
  if (event.event === "token") is<Equal<typeof event.data.name, string>>();
  else is<Equal<typeof event.data, null>>();
}
`;

/** A mistake, with a mark before its place, and a part of the only error. */
const mistakes: [what: string, source: string, says: string][] = [
  ["a wrong path", `await client.GET(‸"/v1/item");`, `'"/v1/item"'`],
  ["a method that the path lacks", `await client.POST(‸"/v1/items/events/all", {});`, `'"/v1/items"'`],
  [
    "a wrong parameter",
    `await client.GET("/v1/items/{item_id}", { params: { path: { ‸item_id: "a" } } });`,
    "Type 'string' is not assignable to type 'number'.",
  ],
  [
    "an unknown parameter",
    `await client.GET("/v1/items/{item_id}", { params: { path: { item_id: 1 }, query: { ‸versoin: 1 } } });`,
    "'versoin'",
  ],
  [
    "a wrong body",
    `await client.POST("/v1/items", { body: { ‸name: 1 } });`,
    "Type 'number' is not assignable to type 'string'.",
  ],
];

const BELOW = `${HEAD}
const below = createClient<ApiOf<typeof items, "/v1/{tenant}">>();
const added = await below.POST("/v1/{tenant}/items", { params: { path: { tenant: "a" } }, body: { name: "a" } });
is<Equal<typeof added.data, { id: number; name: string; due?: string } | undefined>>();
const stream = await below.GET("/v1/{tenant}/items/events/all", { params: { path: { tenant: "a" } } });
is<Equal<typeof stream.error, HTTPValidationError | undefined>>();
`;

const EMIT = { noEmit: false, declaration: true, emitDeclarationOnly: true };

/** The programs that compile, with the routes that each uses. */
const programs = {
  "program.ts": PROGRAM,
  "below.ts": BELOW,
  "secured-program.ts": SECURED_PROGRAM,
  "declared-program.ts": DECLARED_PROGRAM,
  "problem-program.ts": PROBLEM_PROGRAM,
  "format-program.ts": FORMAT_PROGRAM,
};
const mistaken = Object.fromEntries(
  mistakes.map(([, source], index) => [`mistake-${index}.ts`, HEAD + source.replace("‸", "")]),
);

/** A project that refers to the one of the routes reads only its emitted types. */
const cases = compilers.flatMap(([version, compiler]) =>
  (["source", "declarations"] as const).map((form) => ({ version, compiler, form })),
);

describe.each(cases)("a client's types, by the routes' $form, with TypeScript $version", ({ compiler, form }) => {
  let folder: string;
  /** The errors outside of the programs and of the mistakes. */
  let faults = "";
  let errors: readonly string[] = [];

  const errorsOf = (file: string) => errors.filter((error) => error.startsWith(`${file}(`));

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), "tsgi-client-types-"));
    const sources = { "routes.ts": ROUTES, "secured.ts": SECURED, "declared.ts": DECLARED };
    for (const [name, text] of Object.entries(sources)) writeFileSync(path.join(folder, name), text);
    if (form === "declarations") {
      faults = compile(compiler(), folder, sources, EMIT);
      for (const name of Object.keys(sources)) rmSync(path.join(folder, name));
    }
    const files = { ...programs, ...mistaken };
    errors = compile(compiler(), folder, files).split(/^(?=\S)/m);
    const known = new Set(Object.keys(files).flatMap(errorsOf));
    faults += errors.filter((error) => !known.has(error)).join("");
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("are compiled with errors only in the files of the mistakes", () => {
    expect(errors.length).toBeGreaterThanOrEqual(mistakes.length);
    expect(faults).toBe("");
  });

  it("are the types of the routes", () => {
    expect(errorsOf("program.ts")).toEqual([]);
  });

  it("have the parameters of a prefix, but not those that a security scheme reads", () => {
    expect([...errorsOf("below.ts"), ...errorsOf("secured-program.ts")]).toEqual([]);
  });

  it("have the errors of the route, of its App or Router, and of its dependencies", () => {
    expect([...errorsOf("declared-program.ts"), ...errorsOf("problem-program.ts")]).toEqual([]);
  });

  it("have the body of the option errorFormat, and the status of validationStatus", () => {
    expect(errorsOf("format-program.ts")).toEqual([]);
  });

  it.each(mistakes)("make %s one error at its own line, of at most six lines", (what, source, says) => {
    const file = `mistake-${mistakes.findIndex(([name]) => name === what)}.ts`;
    const [error = "", ...others] = errorsOf(file);
    expect(others).toEqual([]);
    expect(error).toContain(`${file}(${HEAD.split("\n").length},${source.indexOf("‸") + 1}): error`);
    expect(error).toContain(says);
    expect(error.trimEnd().split("\n").length).toBeLessThanOrEqual(6);
  });
});
