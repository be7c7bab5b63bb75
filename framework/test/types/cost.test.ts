import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createFolder } from "../support/folder.js";
import { IS_SLOW } from "../support/on-demand.js";
import { compilers, compilersWithAPI, writeProject } from "../support/typescript.js";

const FRAMEWORK = join(import.meta.dirname, "../..");
const ROOT = join(FRAMEWORK, "..");

const HEAD = `import { App, Depends, Header, Query, Router, type Static, t, withParams } from "tsgi";
import { type ApiOf, createClient } from "@tsgi/client";
const app = new App();
const router = new Router({ prefix: "/v1" });
const User = t.Object({ name: t.String(), age: t.Integer(), email: t.Optional(t.String()) });
`;

/** Routes with scalars and shared structs: path, query and body parameters, half of them with a default. */
const scalar = (i: number) =>
  i % 2
    ? `app.get("/items${i}/{item_id}", { params: { item_id: t.Integer(), version: t.Integer({ default: 1 }) }, returns: User }, async ({ item_id, version }) => ({ name: "n" + version, age: item_id }));`
    : `app.post("/users${i}/{id}", { params: { user: User, q: Query() }, returns: User }, async ({ user, id, q }) => ({ name: user.name + id + q, age: user.age }));`;

/** Routes without a body that read a path parameter, a list in the query and a header. */
const reading = (on: "app" | "router", tags: string, agent: string) => (i: number) =>
  `${on}.get("/items${i}/{item_id}", { params: { item_id: t.Integer(), tags: Query(${tags}), agent: Header(${agent}) }, returns: User }, async ({ item_id, tags, agent }) => ({ name: tags[0] + agent, age: item_id }));`;

const REQUIRED = ["t.Array(t.String())", ""] as const;
const OPTIONAL = ["t.Array(t.String(), { default: [] })", "{ default: null }"] as const;
const READING = {
  "app, required": reading("app", ...REQUIRED),
  "app, optional": reading("app", ...OPTIONAL),
  "router, required": reading("router", ...REQUIRED),
  "router, optional": reading("router", ...OPTIONAL),
};

/** A call of each of those routes. */
const call = (i: number) =>
  i % 2
    ? `export const { data: d${i} } = await client.GET("/items${i}/{item_id}", { params: { path: { item_id: 1 }, query: { version: 2 } } });`
    : `export const { data: d${i} } = await client.POST("/users${i}/{id}", { params: { path: { id: "a" }, query: { q: "x" } }, body: { name: "a", age: 1 } });`;

/** Routes, of which so many are called once. */
const called = (count: number, calls = count, route = scalar, callOf = call, head = HEAD) => {
  const indexes = Array.from({ length: count }, (_, index) => index);
  const routes = indexes.map((i) => `const route${i} = ${route(i)}`);
  const module = `const routes = { ${indexes.map((i) => `route${i}`).join(", ")} };`;
  const client = "const client = createClient<ApiOf<typeof routes>>();";
  return [head, ...routes, module, client, ...indexes.slice(0, calls).map(callOf)].join("\n");
};

const DATABASE = `async function* openDatabase() { yield { query: async (sql: string) => [sql] }; }
const database = Depends(openDatabase, { scope: "app", check: (db) => db.query("select 1") });
`;

/** Routes that take a dependency of scope "app". */
const dependent = (i: number) =>
  (i === 0 ? DATABASE : "") +
  `app.get("/rows${i}/{row_id}", { params: { db: database, row_id: t.Integer() } }, async ({ db, row_id }) => db.query("select " + row_id));`;

/** Two dependencies and an App, with or without declared errors. */
const erring = (dependency: string, app: string) => `${HEAD}
const Problem = t.Object({ code: t.String() });
const findUser = withParams({ name: Query() }, async ({ name }) => ({ name })${dependency});
const checkQuota = withParams({}, async () => {}${dependency});
const owner = new App(${app});
`;
const UNDECLARED = erring("", "");
const DECLARED = erring(
  ", { responses: { 401: { schema: Problem }, 404: { schema: User } } }",
  "{ responses: { 503: { schema: User } } }",
);

/** Routes with dependencies of both kinds. */
const dependentOnBoth = (i: number) =>
  `owner.get("/items${i}/{item_id}", { params: { item_id: t.Integer(), user: Depends(findUser) }, dependencies: [Depends(checkQuota)], returns: User }, async ({ item_id, user }) => ({ name: user.name, age: item_id }));`;

/** A call of each of those routes. */
const callBoth = (i: number) =>
  `export const { data: d${i}, error: e${i} } = await client.GET("/items${i}/{item_id}", { params: { path: { item_id: 1 }, query: { name: "a" } } });`;

/** Routes whose structs are their own. */
const inline = (i: number) =>
  `app.post("/u${i}", { params: { user: t.Object({ name${i}: t.String(), age: t.Integer() }) }, returns: t.Object({ ok${i}: t.Boolean(), n: t.Number() }) }, async ({ user }) => ({ ok${i}: user.name${i} === "x", n: user.age }));`;

/** A call of each of those routes. */
const callInline = (i: number) =>
  `export const { data: d${i} } = await client.POST("/u${i}", { body: { name${i}: "a", age: 1 } });`;

/** The cost of the schema library's own `Static` for the same object schemas. */
const inlineStatic = (i: number) =>
  `const a${i} = t.Object({ name${i}: t.String(), age: t.Integer() }); const b${i} = t.Object({ ok${i}: t.Boolean(), n: t.Number() }); export const x${i}: Static<typeof a${i}> = { name${i}: "", age: 1 }; export const y${i}: Static<typeof b${i}> = { ok${i}: true, n: 1 };`;

/** Numbers of routes of two programs, whose difference is the cost of a route: it is the same for any two. */
const [FEW, MORE] = [6, 12];

/** Numbers of routes among which one may cost more. */
const MANY = IS_SLOW ? [100, 500] : [100];

describe.each(compilersWithAPI)("with TypeScript %s", (_version, path) => {
  let folder = "";
  let compiler = "";

  beforeAll(() => {
    compiler = path();
    folder = mkdtempSync(join(tmpdir(), "tsgi-types-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  let costs: ReadonlyMap<string, { perRoute: number; fixed: number }>;
  const amongMany = new Map<number, number>();
  let errors: string[] = [];

  /** The cost of each kind of routes: of one more, and that which does not depend on their number. */
  beforeAll(() => {
    const text = (route: (index: number) => string, count: number) =>
      HEAD + Array.from({ length: count }, (_, index) => route(index)).join("\n");
    const kinds = Object.entries({ scalar, dependent, inline, inlineStatic, ...READING });
    const files = [FEW, MORE].flatMap((count) => [
      ...kinds.map(([name, route]) => [`${name}-${count}.ts`, text(route, count)]),
      [`called-${count}.ts`, called(count)],
      [`uncalled-${count}.ts`, called(count, 2)],
      [`calledInline-${count}.ts`, called(count, count, inline, callInline)],
      [`undeclared-${count}.ts`, called(count, 1, dependentOnBoth, callBoth, UNDECLARED)],
      [`declared-${count}.ts`, called(count, 1, dependentOnBoth, callBoth, DECLARED)],
    ]);
    files.push(...MANY.map((many) => [`called-${many}.ts`, called(many)]));
    writeProject(folder, Object.fromEntries(files) as Record<string, string>);
    const input = JSON.stringify(files.map(([name]) => name));
    const script = join(import.meta.dirname, "_instantiations.mjs");
    const run = spawnSync(process.execPath, [script, compiler, folder], { input, encoding: "utf8" });
    const results = JSON.parse(run.stdout) as Record<string, { instantiations: number; errors: string[] }>;
    errors = Object.values(results).flatMap((result) => result.errors);
    const count = (file: string) => results[file]?.instantiations ?? Number.NaN;
    for (const many of MANY) {
      amongMany.set(many, (count(`called-${many}.ts`) - count(`called-${MORE}.ts`)) / (many - MORE));
    }
    costs = new Map(
      [...kinds.map(([name]) => name), "called", "uncalled", "calledInline", "undeclared", "declared"].map((name) => {
        const [few, more] = [count(`${name}-${FEW}.ts`), count(`${name}-${MORE}.ts`)];
        const perRoute = (more - few) / (MORE - FEW);
        return [name, { perRoute, fixed: few - perRoute * FEW }];
      }),
    );
  });

  it("the routes that are counted compile", () => {
    expect(errors).toEqual([]);
  });

  it("a route with scalars and shared object schemas costs at most 102 instantiations, plus 20,000 fixed", () => {
    expect(costs.get("scalar")?.perRoute).toBeLessThanOrEqual(102);
    expect(costs.get("scalar")?.fixed).toBeLessThanOrEqual(20_000);
  });

  it.each([
    ["app, required", 108],
    ["app, optional", 109],
    ["router, required", 108],
    ["router, optional", 109],
  ])("a route with a path parameter, a list and a header (%s) costs at most %i", (kind, most) => {
    expect(costs.get(kind)?.perRoute).toBeLessThanOrEqual(most);
  });

  it('a route with a dependency of scope "app" costs at most 100', () => {
    expect(costs.get("dependent")?.perRoute).toBeLessThanOrEqual(100);
  });

  it("a call by a client costs at most 165 beyond its route, and 50 of another route", () => {
    const [whole, known, alone] = ["called", "uncalled", "scalar"].map(
      (name) => costs.get(name)?.perRoute ?? Number.NaN,
    );
    expect(Number(whole) - Number(alone)).toBeLessThanOrEqual(165);
    expect(Number(known) - Number(alone)).toBeLessThanOrEqual(50);
  });

  it("a route costs at most 20 more if its App and its dependencies declare errors", () => {
    const [declared, undeclared] = ["declared", "undeclared"].map((name) => costs.get(name)?.perRoute ?? Number.NaN);
    expect(Number(declared) - Number(undeclared)).toBeLessThanOrEqual(20);
    expect(Number(undeclared)).toBeLessThanOrEqual(165);
  });

  it("a call of a route with its own object schemas costs at most 530 more than its route", () => {
    const [whole, alone] = ["calledInline", "inline"].map((name) => costs.get(name)?.perRoute ?? Number.NaN);
    expect(Number(whole) - Number(alone)).toBeLessThanOrEqual(530);
  });

  it.each(MANY)("a route and its call cost at most 4 more among %i than among few", (many) => {
    expect(Number(amongMany.get(many)) - Number(costs.get("called")?.perRoute)).toBeLessThanOrEqual(4);
  });

  it("a route with its own object schemas costs at most 250 more than the schemas", () => {
    const [whole, alone] = ["inline", "inlineStatic"].map((name) => costs.get(name)?.perRoute ?? Number.NaN);
    expect(Number(whole) - Number(alone)).toBeLessThanOrEqual(250);
  });
});

describe.each(compilers)("with TypeScript %s", (_version, compiler) => {
  const folder = createFolder({});

  it("handlers infer names, types and optionality, and mistakes are reported at their place", () => {
    const project = join(folder, "handlers.json");
    const compilerOptions = {
      noEmit: true,
      composite: false,
      declaration: false,
      declarationMap: false,
      typeRoots: [join(ROOT, "node_modules/@types")],
    };
    const files = [join(import.meta.dirname, "handlers.test-d.ts")];
    writeFileSync(project, JSON.stringify({ extends: join(ROOT, "tsconfig.base.json"), compilerOptions, files }));
    const run = spawnSync(process.execPath, [compiler(), "-p", project], { encoding: "utf8" });
    expect(run.stdout).toBe("");
    expect(run.status).toBe(0);
  });
});
