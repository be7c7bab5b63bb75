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
const [path, nothing] = ["/items" as string, null];
export { Item, nothing, opened, path, router };
`;

const HEAD = `import type * as items from "./routes.js";
import { type ApiOf, createClient, type HTTPValidationError } from "tsgi/client";
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
const stream = await client.GET("/v1/items/events/all");
for await (const event of stream.data ?? []) {
  if (event.event === "token") is<Equal<typeof event.data.name, string>>();
  else is<Equal<typeof event.data, null>>();
}
`;

/** A mistake, in front of its place a mark, and a part of the one error. */
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

/** A project that refers to the one of the routes reads what the compiler emits of it: types alone. */
const cases = compilers.flatMap(([version, compiler]) =>
  (["source", "declarations"] as const).map((form) => ({ version, compiler, form })),
);

describe.each(cases)("a client's types, by the routes' $form, with TypeScript $version", ({ compiler, form }) => {
  let folder: string;
  let faults = "";
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), "tsgi-client-types-"));
    const routes = path.join(folder, "routes.ts");
    writeFileSync(routes, ROUTES);
    if (form === "declarations") {
      faults = compile(compiler(), folder, { "routes.ts": ROUTES }, EMIT);
      rmSync(routes);
    }
  }, 120_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("are those of the routes", () => {
    expect(faults + compile(compiler(), folder, { "program.ts": PROGRAM })).toBe("");
  }, 60_000);

  it("have the parameters of a prefix", () => {
    expect(faults + compile(compiler(), folder, { "below.ts": BELOW })).toBe("");
  }, 60_000);

  it("make each mistake one error at its own line, of at most six lines", () => {
    const files = mistakes.map(([, source], index) => [`mistake-${index}.ts`, HEAD + source.replace("‸", "")]);
    const output = compile(compiler(), folder, Object.fromEntries(files) as Record<string, string>);
    for (const [index, [, source, says]] of mistakes.entries()) {
      const place = `mistake-${index}.ts(${HEAD.split("\n").length},${source.indexOf("‸") + 1}): error`;
      const [error = "", ...others] = output.split(/^(?=\S)/m).filter((text) => text.startsWith(`mistake-${index}.`));
      expect(others).toEqual([]);
      expect(error).toContain(place);
      expect(error).toContain(says);
      expect(error.trimEnd().split("\n").length).toBeLessThanOrEqual(6);
    }
  }, 60_000);
});
