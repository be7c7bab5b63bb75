import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { compile, compilers } from "../support/typescript.js";

const HEAD = `import { App, BackgroundTasks, Depends, HTTPException, Path, Query, Router, Security, sse, t, withParams } from "tsgi";
import { httpMiddleware } from "tsgi/middleware";
const app = new App();
const router = new Router({ prefix: "/users" });
const User = t.Object({ name: t.String(), age: t.Integer() });
const getDb = async () => ({ query: (sql: string) => sql });
const notify = async (to: string) => to;
class Page {
  constructor(readonly options: { page: number }) {}
}
class StockError extends Error {
  left = 0;
}
const sizes = ["s", "m"];
const prices = { s: 1, m: 2 };
export { app, BackgroundTasks, Depends, getDb, HTTPException, httpMiddleware, notify, Page, Path, Query, router, Security, prices, sizes, StockError, t, User, withParams };
`;

/** A class that is not exported. */
const STORE = `class Store {
  private rows = [];
}
export const openStore = async () => new Store();
`;

/** Precedes the place at which the error is reported. */
const PLACE = "‸";

/** The code, and its only error. */
const mistakes: [title: string, source: string, says: string][] = [
  [
    "a dependency with arguments and no params",
    `app.get("/a", { params: { a: Depends(‸({ id }: { id: number }) => id) } }, async ({ a }) => a);`,
    "the function takes arguments: wrap it in withParams({ id: Query() }, ({ id }) => …)",
  ],
  [
    "a secured dependency with arguments and no params",
    `Security(‸async ({ id }: { id: number }) => id);`,
    "the function takes arguments: wrap it in withParams({ id: Query() }, ({ id }) => …)",
  ],
  [
    "a class whose constructor takes arguments, without params",
    `Depends(‸Page);`,
    "the constructor takes arguments: declare them with static params = { id: Query() }",
  ],
  [
    "a dependency that is called",
    `app.get("/a", { params: { db: Depends(‸getDb()) } }, async ({ db }) => db.query("select 1"));`,
    "pass the function itself: Depends(getUser), not Depends(getUser())",
  ],
  [
    "an exported dependency of a class that is not exported",
    `import { openStore } from "./store.js";\nexport const ‸store = Depends(openStore);`,
    "Property 'rows' of exported anonymous class type may not be private or protected.",
  ],
  [
    "a function as an annotation",
    `app.get("/a", { params: { ‸db: getDb } }, async ({ db }) => db.query("select 1"));`,
    "write Depends(getUser) for the result of a function: Depends(getUser), not getUser",
  ],
  [
    "a class as an annotation",
    `app.get("/a", { params: { ‸page: Page } }, async ({ page }) => page.options);`,
    "write Depends(Page) for an object of a class: Depends(Page), not Page",
  ],
  [
    "String as an annotation",
    `app.get("/a/{id}", { params: { ‸id: String } }, async ({ id }) => id.toUpperCase());`,
    "write t.String(), not String",
  ],
  [
    "Number as an annotation",
    `app.get("/a/{id}", { params: { ‸id: Number } }, async ({ id }) => id.toFixed());`,
    "write t.Number() or t.Integer(), not Number",
  ],
  [
    "Boolean as an annotation",
    `app.get("/a", { params: { ‸on: Boolean } }, async ({ on }) => (on ? 1 : 2));`,
    "write t.Boolean(), not Boolean",
  ],
  [
    "Date as an annotation",
    `app.get("/a", { params: { ‸day: Date } }, async ({ day }) => day.getTime());`,
    "write t.Date(), not Date",
  ],
  [
    "a constructor in withParams",
    `withParams({ ‸page: Number }, async ({ page }) => page.toFixed());`,
    "write t.Number() or t.Integer(), not Number",
  ],
  [
    "text as an annotation",
    `app.get("/a", { params: { ‸q: "string" } }, async ({ q }) => q.length);`,
    "a parameter is declared with a schema, a parameter function or a class: t.String(), Query(), Depends(getUser)",
  ],
  [
    "properties without t.Object",
    `app.post("/a", { params: { ‸user: { name: t.String() } } }, async ({ user }) => user.name);`,
    "write t.Object({ … }) around properties",
  ],
  [
    "a builder that is not called",
    `app.get("/a", { params: { ‸q: t.String } }, async ({ q }) => q.length);`,
    "call the builder: t.String(), not t.String",
  ],
  [
    "a parameter function that is not called",
    `app.get("/a", { params: { ‸q: Query } }, async ({ q }) => q.length);`,
    "call the parameter function: Query(), not Query",
  ],
  [
    "the global Request",
    `app.get("/a", { params: { ‸request: Request } }, async ({ request }) => request.url);`,
    "this is the global Request: import { Request } from tsgi",
  ],
  [
    "the global Response",
    `app.get("/a", { params: { ‸response: Response } }, async ({ response }) => response.statusCode);`,
    "this is the global Response: import { Response } from tsgi",
  ],
  [
    "the global WebSocket",
    `app.websocket("/a", { params: { ‸socket: WebSocket } }, async ({ socket }) => socket.accept());`,
    "this is the global WebSocket: import { WebSocket } from tsgi",
  ],
  [
    "the global File",
    `app.post("/a", { params: { ‸cover: File } }, async ({ cover }) => cover.filename);`,
    "this is the global File: import { File } from tsgi and write File()",
  ],
  [
    "a name that is not in the params",
    `app.get("/a", { params: { a: Query() } }, async ({ a, ‸b }) => [a, b]);`,
    "Property 'b' does not exist on type 'FromParams<{ a: TextMarker<\"query\">; }>'.",
  ],
  [
    "a name that is neither in the params nor in the path",
    `app.get("/a/{id}", { tags: ["a"] }, async ({ id, ‸b }) => [id, b]);`,
    `Property 'b' does not exist on type 'FromParams<{}> & FromPath<"id">'.`,
  ],
  [
    "a name that is not in the path",
    `app.get("/a/{id}", async ({ id, ‸b }) => [id, b]);`,
    `Property 'b' does not exist on type 'FromPath<"id">'.`,
  ],
  [
    "another type than the param has",
    `app.get("/a/{id}", { params: { id: t.Integer() } }, ‸async ({ id }: { id: string }) => id);`,
    "Types of property 'id' are incompatible.",
  ],
  [
    "another type than text of a name in the path",
    `app.get("/a/{id}", ‸async ({ id }: { id: number }) => id);`,
    `Type 'FromPath<"id">' is not assignable to type '{ id: number; }'.`,
  ],
  [
    "another type than a generator yields",
    `app.get("/a", { params: { n: Depends(function* () { yield 1; }) } }, ‸async ({ n }: { n: string }) => n);`,
    "Types of property 'n' are incompatible.",
  ],
  [
    "a parameter function as the type of its value",
    `const Q = Query(t.Integer());\napp.get("/a", { params: { q: Q } }, ‸async ({ q }: { q: typeof Q }) => q);`,
    "Type 'number' is not assignable to type 'SourceMarkerOf<number, \"query\", TInteger, undefined, undefined>'.",
  ],
  [
    "a result that lacks a property",
    `app.get("/a", { returns: User }, async () => ‸({ name: "a" }));`,
    "Property 'age' is missing in type",
  ],
  [
    "a result with a property of another type",
    `app.get("/a", { returns: User }, async () => ‸({ name: "a", age: "1" }));`,
    "Types of property 'age' are incompatible.",
  ],
  [
    "a result of another type at the end of a block",
    `app.get("/a/{name}", { returns: User }, ‸async ({ name }) => {\n  if (name === "") throw new HTTPException(404);\n  return { name, age: "1" };\n});`,
    "Types of property 'age' are incompatible.",
  ],
  [
    "no result",
    `router.get("/a", { returns: User }, ‸async () => {});`,
    "Type 'void' is not assignable to type '{ readonly name: string; readonly age: number; }'.",
  ],
  [
    "an item of a stream that lacks a property",
    `app.get("/a", { returns: User }, ‸async function* () { yield { name: "a" }; });`,
    "in each yielded item, age is missing or of a different type than in `returns`",
  ],
  [
    "an event that `sse` does not name",
    `app.get("/a", { stream: "sse", returns: sse({ user: User }) }, ‸async function* () { yield { event: "guest", data: { name: "a", age: 1 } }; });`,
    "`returns` names no event `guest`, which is yielded",
  ],
  [
    "an event with the data of another one",
    `router.get("/a", { stream: "sse", returns: sse({ user: User, end: t.Null() }) }, ‸async function* () { yield { event: "user", data: null }; });`,
    "the event `user` has data, or a field, of a different type than in `returns`",
  ],
  [
    "data alone where events have names",
    `app.get("/a", { stream: "sse", returns: sse({ user: User }) }, ‸async function* () { yield { name: "a", age: 1 }; });`,
    "each item that is yielded should be an event that `returns` names: { event, data }",
  ],
  [
    "Path() under a name that the path lacks",
    `app.get("/a/{id}", { params: { ‸item: Path(t.Integer()) } }, async ({ item }) => item);`,
    "the path /a/{id} has no {item}: write it there, or Query() here",
  ],
  [
    "the option `param`",
    `app.get("/a", { ‸param: { a: Query() } }, async () => 1);`,
    "Did you mean to write 'params'?",
  ],
  ["the option `return`", `app.get("/a", { ‸return: User }, async () => 1);`, "Did you mean to write 'returns'?"],
  ["the option `tag`", `router.get("/a", { ‸tag: ["a"] }, async () => 1);`, "Did you mean to write 'tags'?"],
  [
    "a path without its slash",
    `app.get(‸"items", async () => 1);`,
    `Type 'string' is not assignable to type 'WriteInstead<"/items">'.`,
  ],
  [
    "a pattern in a name",
    `app.get(‸"/a/{id:\\\\d+}", { params: { id: t.Integer() } }, async ({ id }) => id);`,
    `WriteInstead<"{id}, and params: { id: t.Integer() }">`,
  ],
  [
    "a default of another type than the schema's",
    `Query(t.Integer(), { ‸default: "1" });`,
    "Type 'string' is not assignable to type 'number'.",
  ],
  ["a default of text that is none", `Query({ ‸default: 1 });`, "Type 'number' is not assignable to type 'string'."],
  [
    "a misspelt option of a parameter function",
    `Query(t.Integer(), { ‸defualt: 1 });`,
    "Did you mean to write 'default'?",
  ],
  ["a misspelt option without a schema", `Query({ ‸defualt: null });`, "Did you mean to write 'default'?"],
  [
    "a default of a path parameter",
    `app.get("/a/{id}", { params: { id: Path({ ‸default: "1" }) } }, async ({ id }) => id);`,
    "UseQueryForAnOptionalValue",
  ],
  [
    "a handler as in Express",
    `app.get("/a", async (req, res) => { res.‸send("a"); });`,
    "Property 'send' does not exist on type 'HandlerTakesOneObject'.",
  ],
  [
    "a handler as in Express, behind options",
    `app.get("/a", { tags: ["a"] }, async (req, res, next) => ‸next());`,
    "Type 'HandlerTakesOneObject' has no call signatures.",
  ],
  [
    "a function with params as in Express",
    `withParams({ q: Query() }, async (req, res) => { res.‸send(req.q); });`,
    "Property 'send' does not exist on type 'HandlerTakesOneObject'.",
  ],
  [
    "middleware of requests as in Express",
    `httpMiddleware((req, res, next) => ‸next());`,
    "Type 'HTTPMiddlewareTakesRequestAndNext' has no call signatures.",
  ],
  [
    "the handler before the options",
    `app.get("/a", ‸async () => 1, { tags: ["a"] });`,
    "Type '() => Promise<number>' has no properties in common with type 'OptionsBeforeHandler<{}, undefined, {}, never>'.",
  ],
  ["a handler that is called", `app.get("/a", ‸getDb());`, "Handler<FromPath<never>>"],
  [
    "a function unlike its params",
    `withParams({ page: Query(t.Integer()) }, ‸async ({ page }: { page: string }) => page);`,
    "Types of property 'page' are incompatible.",
  ],
  [
    "the function before its params",
    `withParams(‸async ({ page }: { page: number }) => page, { page: Query(t.Integer()) });`,
    "the params come first: withParams({ page: Query() }, async ({ page }) => …)",
  ],
  [
    "a handler of a WebSocket that is not given `ws`",
    `app.websocket("/a", async (ws) => ws.‸accept());`,
    "Property 'accept' does not exist on type 'FromPath<never> & { ws: WebSocket; }'.",
  ],
  [
    "a message that the client does not send",
    `app.websocket("/a", { receives: User }, async ({ ws }) => { for await (const { ‸text } of ws) await ws.send(text); });`,
    "Property 'text' does not exist on type '{ name: string; age: number; }'.",
  ],
  [
    "a message of another type than `sends` says",
    `router.websocket("/a", { sends: User }, async ({ ws }) => { await ws.sendJson({ name: "a", ‸age: "1" }); });`,
    "Type 'string' is not assignable to type 'number'.",
  ],
  [
    "a union of the values of an array that is not constant",
    `app.get("/a", { params: { size: t.Union(sizes.map((size) => t.Literal(size))) } }, async ({ size }) => ‸prices[size]);`,
    "expression of type 'string' can't be used to index type '{ s: number; m: number; }'.",
  ],
  [
    "a builder as the callback of an array",
    `app.get("/a", { params: { size: t.Union(sizes.map(‸t.Literal)) } }, async ({ size }) => size);`,
    "Types of parameters 'options' and 'index' are incompatible.",
  ],
  [
    "an enum of an array",
    `app.get("/a", { params: { size: t.Enum(‸["s", "m"]) } }, async ({ size }) => size);`,
    "Index signature for type 'string' is missing in type 'string[]'.",
  ],
  ["middleware as in Express", `app.addMiddleware(‸(req, res, next) => { next(); });`, "UseHTTPMiddleware"],
  ["middleware as in Koa", `app.addMiddleware(‸async (ctx, next) => { await next(); });`, "UseHTTPMiddleware"],
  [
    "an exception handler of another error",
    `app.exceptionHandler(StockError, ‸(error: { status: number }) => error.status);`,
    "Property 'status' is missing in type 'StockError'",
  ],
  [
    "an exception handler of an error object",
    `app.exceptionHandler(‸new HTTPException(404), () => null);`,
    "write the class itself: exceptionHandler(MyError, …), not exceptionHandler(new MyError(), …)",
  ],
  [
    "an exception handler of a status in text",
    `router.exceptionHandler(‸"404", () => null);`,
    "a status is a number: exceptionHandler(404, …), not exceptionHandler('404', …)",
  ],
  [
    "an exception handler as in Express",
    `app.exceptionHandler(StockError, (error, req, res, next) => ‸next(error));`,
    "Type 'ExceptionHandlerTakesErrorAndRequest' has no call signatures.",
  ],
  [
    "a task that is called",
    `new BackgroundTasks().addTask(‸notify("a"), "a");`,
    "Argument of type 'Promise<string>' is not assignable to parameter of type 'UncalledFunction<[string]>'.",
  ],
];

/** A source as it is compiled, and the place of its error. */
function placed(source: string): { text: string; place: string } {
  const text = HEAD + source.replace(PLACE, "");
  const before = (HEAD + source).split(PLACE)[0] as string;
  const line = before.split("\n").length;
  return { text, place: `(${line},${before.length - before.lastIndexOf("\n")})` };
}

describe.each(compilers)("with TypeScript %s", (_version, compiler) => {
  let folder = "";
  let output = "";
  const fileOf = (index: number) => `mistake-${index}.ts`;

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), "tsgi-mistakes-"));
    const files = mistakes.map(([, source], index) => [fileOf(index), placed(source).text] as const);
    const isEmitted = ([, text]: readonly [string, string]) => text.includes("./store.js");
    const checked = Object.fromEntries(files.filter((file) => !isEmitted(file)));
    // A program with other errors is not emitted.
    const emitted = { "store.ts": STORE, ...Object.fromEntries(files.filter(isEmitted)) };
    output = compile(compiler(), folder, checked) + compile(compiler(), folder, emitted, { declaration: true });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(mistakes.map(([title, source, says], index) => ({ title, source, says, index })))(
    "$title is one error at its place, of at most six lines, with the fix",
    ({ source, says, index }) => {
      const errors = output.split(/\n(?! )/).filter((error) => error.startsWith(fileOf(index)));
      expect(errors).toHaveLength(1);
      const [error = ""] = errors;
      expect(error).toContain(`${fileOf(index)}${placed(source).place}: error TS`);
      expect(error.split("\n").length).toBeLessThanOrEqual(6);
      expect(error).toContain(says);
      expect(error).not.toContain("No overload matches this call");
    },
  );
});

describe("the page of type errors", () => {
  const page = readFileSync(path.join(import.meta.dirname, "../../docs/type-errors.md"), "utf8");
  const told = [...page.matchAll(/^\|[^|]*\| (`+) ?(.*?) ?\1 +\|/gm)].map((row) => row[2]);

  it("has a row for each message, and no other", () => {
    expect(new Set(told)).toEqual(new Set(mistakes.map(([, , says]) => says)));
  });
});
