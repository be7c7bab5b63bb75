import { exec } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "@jest/globals";
import { build } from "esbuild";
import { ITEMS_APP, Project } from "./_project.js";

const slow = process.env["TSGI_SLOW"] ? it : it.skip;

const DEPENDENCIES = `import { Depends, Request, withParams } from "tsgi";
export const getStore = withParams({ request: Request }, async () => new Map());
export const getItems = withParams({ store: Depends(getStore) }, async ({ store }) => [...store]);
export const verify = withParams({}, async function check() {});
`;

const ANONYMOUS_APP = `import { App, Depends, Header, Query, withParams } from "tsgi";
import { getItems, verify } from "./dependencies.js";
export const app = new App({ dependencies: [Depends(verify)] });
const getAgent = withParams({ agent: Header({ alias: "user-agent", default: null }) }, async ({ agent }) => agent);
app.get("/items", { params: { items: Depends(getItems), agent: Depends(getAgent), page:
  Depends(withParams({ page: Query() }, async ({ page }) => page)) } }, async ({ items }) => items);
`;

describe("tsgi routes", () => {
  it("shows method, path, name, handler, where it runs, and dependencies", async () => {
    await using project = await Project.create({ "app.ts": ITEMS_APP });
    const { code, stdout } = await project.spawn("routes", "app.ts");
    expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      ["method", "path", "name", "handler", "runs", "dependencies"],
      expect.anything(),
      ["GET", "/items/{item_id}", "readItem", "readItem", "async", "verify, getUser"],
      ["GET", "/sum", "sum", "sum", "pool", "verify"],
      ["WEBSOCKET", "/chat", "chat", "chat", "async", "verify"],
      [""],
    ]);
    expect(code).toBe(0);
  });

  it("names dependencies by the variables that hold them, else by their parameters, and anonymous handlers by method and path", async () => {
    await using project = await Project.create({ "src/app.ts": ANONYMOUS_APP, "src/dependencies.ts": DEPENDENCIES });
    const { stdout, stderr } = await project.spawn("routes", "--json");
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual([
      {
        method: "GET",
        path: "/items",
        name: "GET /items",
        handler: "GET /items",
        runs: "async",
        dependencies: ["verify", "getStore", "getItems", "getAgent", "page"],
      },
    ]);
  });

  it("omits the columns that only repeat method and path", async () => {
    await using project = await Project.create({ "src/app.js": ANONYMOUS_APP, "src/dependencies.js": DEPENDENCIES });
    const { stdout } = await project.spawn("routes");
    expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      ["method", "path", "runs", "dependencies"],
      expect.anything(),
      ["GET", "/items", "async", "verify, getStore, getItems, getAgent, page"],
      [""],
    ]);
  });

  it("fits its table into the terminal", async () => {
    await using project = await Project.create({ "src/app.js": ANONYMOUS_APP, "src/dependencies.js": DEPENDENCIES });
    const { stdout } = await project.start(["routes"], { COLUMNS: "40" }).ended;
    expect(stdout).toBe(
      [
        "method  path    runs   dependencies",
        "──────  ──────  ─────  ─────────────────",
        "GET     /items  async  verify, getStore,",
        "                       getItems,",
        "                       getAgent, page",
        "",
      ].join("\n"),
    );
  });

  it("prints JSON for programs", async () => {
    await using project = await Project.create({ "app.js": ITEMS_APP });
    const { stdout } = await project.run("routes", "--json");
    expect(JSON.parse(stdout)).toContainEqual({
      method: "GET",
      path: "/sum",
      name: "sum",
      handler: "sum",
      runs: "pool",
      dependencies: ["verify"],
    });
  });

  it.each([
    ["in the pool", "", "pool"],
    ["on the loop with `pool: false`", ", { pool: false }", "loop"],
  ])("shows that a non-async handler runs %s", async (_what, options, place) => {
    const source = `import { App } from "tsgi"; export const app = new App(); app.get("/sum"${options}, () => 1);`;
    await using project = await Project.create({ "app.js": source });
    const { stdout } = await project.run("routes", "--json");
    expect(JSON.parse(stdout)).toMatchObject([{ path: "/sum", runs: place }]);
  });

  it("shows that the event loop runs non-async handlers if the App has no pool", async () => {
    const source = ITEMS_APP.replace("new App({", 'new App({ pool: { kind: "inline" },');
    await using project = await Project.create({ "app.js": source });
    const { stdout } = await project.run("routes", "--json");
    expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining({ path: "/sum", runs: "loop" }));
  });

  it("shows control characters of a name instead of obeying them", async () => {
    const source = `import { App } from "tsgi"; export const app = new App();
      app.get("/x", { name: "a\\u001b[31m" }, async () => 1);`;
    await using project = await Project.create({ "app.js": source });
    const { stdout } = await project.run("routes");
    expect(stdout).toContain(String.raw`a\u001b[31m`);
    expect(stdout).not.toContain("\u001b");
  });
});

describe("the names of exports in tsgi routes", () => {
  const files = {
    "src/routes.ts": `import { Router } from "tsgi";
      export const router = new Router();
      export const listItems = router.get("/items", { summary: "a (list)" }, async () => []);
      const unnamed = [router.get("/unnamed", async () => [])];
      export const feed = router.websocket("/feed", async ({ ws }) => ws.close());
      export const named = router.get("/named", { name: "chosen" }, async () => []);`,
    "src/app.ts": `import { App } from "tsgi"; import { router } from "./routes.js";
      export const app = new App(); app.includeRouter(router, { prefix: "/v1" });`,
  };

  it("are shown for anonymous handlers, whose operation ids and URLs do not change", async () => {
    await using project = await Project.create(files);
    const { stdout } = await project.spawn("routes", "--json");
    expect(JSON.parse(stdout)).toMatchObject([
      { path: "/v1/items", name: "listItems", handler: "listItems" },
      { path: "/v1/unnamed", name: "GET /v1/unnamed", handler: "GET /v1/unnamed" },
      { path: "/v1/feed", name: "feed", handler: "feed" },
      { path: "/v1/named", name: "chosen", handler: "GET /v1/named" },
    ]);
    const document = JSON.parse((await project.spawn("openapi")).stdout);
    expect(document.paths["/v1/items"].get.operationId).toBe("getV1Items");
  });

  it("are shown for dependencies of a minified package, else the names of the parameters", async () => {
    await using project = await Project.create({
      "package.mjs": `import{withParams as c}from"tsgi";var u=c({},async()=>1),v=c({},async()=>2);export{u as getCaller};export{v as"x y"};`,
      "src/app.mjs": `import { App, Depends } from "tsgi"; import * as all from "../package.mjs";
        export const app = new App();
        app.get("/", { params: { caller: Depends(all.getCaller), size: Depends(all["x y"]) } }, async () => 1);`,
    });
    const { stdout } = await project.spawn("routes", "src/app.mjs", "--json");
    expect(JSON.parse(stdout)).toMatchObject([{ dependencies: ["getCaller", "size"] }]);
  });
});

describe("the module", () => {
  const files = { "src/app.js": "export const createApp = () => {};", "src/dev.js": ITEMS_APP };
  const manifest = (module: unknown) => JSON.stringify({ type: "module", tsgi: { module } });

  it.each(["routes", "openapi", "doctor"])("of tsgi %s is the one that package.json names", async (name) => {
    await using project = await Project.create({ ...files, "package.json": manifest("src/dev.js") });
    const { code, stdout } = await project.run(name);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/items\/\{item_id\}|src\/dev\.js: 3 routes/)]);
  });

  it("is the one of the line before that", async () => {
    await using project = await Project.create({ ...files, "package.json": manifest("src/no.js") });
    expect(await project.run("routes", "src/dev.js")).toMatchObject({ code: 0, stderr: "" });
  });

  it.each<[what: unknown, text: string]>([
    ["src/no.js", "the file src/no.js does not exist"],
    [3, "it is 3"],
  ])("is rejected if package.json contains %j", async (module, text) => {
    await using project = await Project.create({ ...files, "package.json": manifest(module) });
    const { code, stderr } = await project.run("routes");
    expect(stderr).toContain(`of package.json must name the file that exports the app, but ${text}.\n`);
    expect(code).toBe(1);
  });
});

describe("tsgi openapi --async", () => {
  it("writes the AsyncAPI document, to the standard output or to a file", async () => {
    const source = `import { App, t } from "tsgi";
      export const app = new App({ title: "Ticks" });
      app.websocket("/ticks", { sends: t.Integer() }, async ({ ws }) => ws.accept());`;
    await using project = await Project.create({ "app.js": source });
    const { code, stdout } = await project.run("openapi", "--async", "app.js");
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { asyncapi: "3.0.0", info: { title: "Ticks" } }]);
    const written = await project.run("openapi", "--async", "--out", "asyncapi.json", "app.js");
    expect(written.stderr).toBe("Wrote asyncapi.json: 1 channel.\n");
    expect(await readFile(path.join(project.folder, "asyncapi.json"), "utf8")).toBe(stdout);
    expect((await project.run("openapi", "--async", "--check", "asyncapi.json", "app.js")).code).toBe(2);
  });
});

const ITEMS_MODULE = `import { Router } from "tsgi";
export const router = new Router({ prefix: "/items" });
export const listItems = router.get("", async () => []);
export const readItem = router.get("/{id}", async ({ id }) => id);`;

const MODULES_APP = `import { App } from "tsgi";
import * as items from "./items.ts";
export const app = new App();
app.includeRouter(items);`;

describe("tsgi openapi", () => {
  it("has the names of exports as operation ids, in the source, in a minified bundle and when it is served", async () => {
    await using project = await Project.create({ "app.ts": MODULES_APP, "items.ts": ITEMS_MODULE });
    const bundle = path.join(project.folder, "bundle.js");
    const options = { bundle: true, minify: true, format: "esm", packages: "external" } as const;
    await build({ ...options, entryPoints: [path.join(project.folder, "app.ts")], outfile: bundle });
    const ofSource = await project.spawn("openapi", "app.ts");
    const document = JSON.parse(ofSource.stdout) as { paths: Record<string, { get: { operationId: string } }> };
    expect(Object.values(document.paths).map(({ get }) => get.operationId)).toEqual(["listItems", "readItem"]);
    expect((await project.run("openapi", "bundle.js")).stdout).toBe(ofSource.stdout);
    await using server = await project.serve(["run", "bundle.js", "--port", "0"]);
    expect(await (await fetch(`${server.url}/openapi.json`)).json()).toEqual(document);
  });

  it("prints the document without a server", async () => {
    await using project = await Project.create({ "app.js": ITEMS_APP });
    const { code, stdout } = await project.run("openapi", "app.js");
    expect(JSON.parse(stdout)).toMatchObject({ openapi: "3.0.3", info: { title: "Items", version: "1.2.3" } });
    expect(code).toBe(0);
  });

  it("writes it to a file", async () => {
    await using project = await Project.create({ "app.js": ITEMS_APP });
    const { stdout, stderr } = await project.run("openapi", "--out", "openapi.json");
    expect([stdout, stderr]).toEqual(["", "Wrote openapi.json: 2 operations.\n"]);
    const text = await readFile(path.join(project.folder, "openapi.json"), "utf8");
    expect(Object.keys(JSON.parse(text).paths)).toEqual(["/items/{item_id}", "/sum"]);
  });

  it("reports that another kind of ASGI application has no document", async () => {
    await using project = await Project.create({ "app.js": "export default async () => {};" });
    const { code, stderr } = await project.run("openapi");
    expect(stderr).toBe(
      "app.js exports an ASGI application, but no App of tsgi: its routes cannot be known. " +
        "Name the module that exports the App.\n" +
        "Read more: tsgi explain TSGI_NOT_A_TSGI_APP\n",
    );
    expect(code).toBe(1);
  });

  it("reports why it cannot write the file, and writes no partial file", async () => {
    await using project = await Project.create({ "app.js": ITEMS_APP });
    const { code, stderr } = await project.run("openapi", "--out", "no/such/openapi.json");
    expect(stderr).toContain("no/such/openapi.json cannot be written");
    expect(code).toBe(1);
    await expect(stat(path.join(project.folder, "no"))).rejects.toThrow("ENOENT");
  });
});

const APP = (properties: string, rest = "") =>
  `import { App, t } from "tsgi";
   export const app = new App();
   app.get("/items", { params: { limit: t.Integer({ default: 5 }) }, returns: t.Object({ ${properties} }) }, async () => ({}));
   ${rest}`;

describe("tsgi openapi --check", () => {
  const original = "id: t.Integer(), name: t.String()";

  /** A project whose document was committed, and whose application was changed since. */
  async function changed(app: string): Promise<Project> {
    const project = await Project.create({ "before.js": APP(original), "app.js": app });
    await project.run("openapi", "before.js", "--out", "openapi.json");
    return project;
  }

  it("prints no differences for the same document", async () => {
    await using project = await changed(APP(original));
    const outcome = await project.run("openapi", "--check", "openapi.json");
    expect(outcome).toMatchObject({ code: 0, stdout: "", stderr: "openapi.json: no change.\n" });
  });

  it("lists what breaks clients, before additions, by operation and place with a remedy, and ends with 1", async () => {
    await using project = await changed(
      APP("id: t.Integer(), a: t.Optional(t.Integer())", 'app.get("/new", async () => null);'),
    );
    const before = await readFile(path.join(project.folder, "openapi.json"), "utf8");
    const { code, stdout, stderr } = await project.run("openapi", "--check", "openapi.json");
    expect(stdout).toBe(
      "breaking  GET /items response/200/name: the property is missing. Keep it, marked as deprecated.\n" +
        "addition  GET /items response/200/a: the property is new.\n" +
        "addition  GET /new: the operation is new.\n",
    );
    expect(stderr).toBe("openapi.json: 1 breaking change, 2 additions. Update the file with --write.\n");
    expect(code).toBe(1);
    expect(await readFile(path.join(project.folder, "openapi.json"), "utf8")).toBe(before);
  });

  it("lists additions and ends with 0", async () => {
    await using project = await changed(APP(`${original}, price: t.Number()`));
    const { code, stdout } = await project.run("openapi", "--check", "openapi.json");
    expect([code, stdout]).toEqual([0, "addition  GET /items response/200/price: the property is new.\n"]);
  });

  it("renews the file with --write, lists the same, and ends with 0", async () => {
    await using project = await changed(APP("id: t.Integer()"));
    const { code, stdout, stderr } = await project.run("openapi", "--check", "openapi.json", "--write");
    expect(stdout).toContain("breaking  GET /items response/200/name: the property is missing.");
    expect(stderr).toBe("openapi.json: 1 breaking change, 0 additions.\nWrote openapi.json: 1 operation.\n");
    expect(code).toBe(0);
    expect(await project.run("openapi", "--check", "openapi.json")).toMatchObject({ code: 0, stdout: "" });
  });

  it("makes a file that is missing with --write", async () => {
    await using project = await Project.create({ "app.js": APP(original) });
    expect(await project.spawn("openapi", "--check", "new.json", "--write")).toMatchObject({ code: 0, stdout: "" });
    expect(await project.run("openapi", "--check", "new.json")).toMatchObject({ code: 0, stdout: "" });
  });

  it.each([
    ["is no JSON", "openapi: 3.0.3", /^--check contract\.json cannot be read: Unexpected token/],
    ["is another document", "{}", /^contract\.json is not an OpenAPI document/],
    ["is a document of OpenAPI 2", '{ "swagger": "2.0" }', /^contract\.json is not an OpenAPI document/],
  ])("ends with 2 if the file %s", async (_what, text, message) => {
    await using project = await Project.create({ "app.js": APP(original), "contract.json": text });
    const { code, stderr } = await project.run("openapi", "--check", "contract.json");
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });

  it("ends with 2 if the file is missing", async () => {
    await using project = await Project.create({ "app.js": APP(original) });
    const { code, stderr } = await project.spawn("openapi", "--check", "contract.json");
    expect(stderr).toMatch(/^--check contract\.json cannot be read: ENOENT/);
    expect(code).toBe(2);
  });

  it.each([
    ["--write alone", ["--write"], "--write requires --check <file>"],
    ["--out beside it", ["--check", "a.json", "--out", "b.json"], "cannot be used with"],
  ])("ends with 2 for %s", async (_what, flags, message) => {
    await using project = await Project.create({ "app.js": APP(original) });
    const { code, stderr } = await project.run("openapi", ...flags);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });
});

describe("a command that only looks at an application", () => {
  it.each(["routes", "openapi", "doctor"])("%s ends although the module has started a server", async (name) => {
    const source = `${ITEMS_APP} import { createServer } from "node:http"; createServer().listen(0, "127.0.0.1");`;
    await using project = await Project.create({ "app.js": source });
    expect(await project.spawn(name)).toMatchObject({ code: 0 });
  });

  it("takes variables from a file", async () => {
    const source = `if (process.env.GREETING !== "hello") throw new Error("no greeting"); ${ITEMS_APP}`;
    await using project = await Project.create({ "app.js": source, ".env": "GREETING=hello" });
    expect(await project.run("routes", "--env-file", ".env")).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("tsgi client", () => {
  it("writes a client that needs no package except the framework", async () => {
    await using project = await Project.create({ "app.js": ITEMS_APP });
    expect(await project.run("client", "--out", "api.ts")).toMatchObject({ code: 0 });
    const text = await readFile(path.join(project.folder, "api.ts"), "utf8");
    expect(text).toContain("export interface paths {");
  });

  slow("writes a client that compiles in a project with only TypeScript 7", async () => {
    await using project = await Project.create({ "app.ts": ITEMS_APP }, { tools: false });
    const dependencies = {
      "openapi-fetch": "0.17.0",
      tsgi: `file:${path.resolve(import.meta.dirname, "../../core")}`,
      tsx: "4.23.15",
      typescript: "7.0.2",
    };
    await project.write({ "package.json": JSON.stringify({ type: "module", dependencies }) });
    const shell = (line: string) => promisify(exec)(line, { cwd: project.folder });
    await shell("npm install --ignore-scripts --no-audit --no-fund --loglevel=error");
    expect(await project.spawn("client", "--out", "api.ts")).toMatchObject({ code: 0 });
    const flags = "--strict --noEmit --skipLibCheck --module nodenext --target es2022 --types ''";
    await shell(`node_modules/.bin/tsc ${flags} api.ts`);
  });

  it.each<[what: string, file: string, text: string, message: RegExp]>([
    ["is missing", "no.json", "", /no\.json cannot be read: .*ENOENT/],
    ["is no JSON", "api.json", "{", /api\.json cannot be read: SyntaxError/],
    ["is another JSON file", "package.json", "{}", /package\.json is not an OpenAPI document/],
  ])("rejects a document that %s", async (_what, file, text, message) => {
    await using project = await Project.create(text === "" ? {} : { [file]: text });
    const { code, stderr } = await project.run("client", file, "--out", "api.ts");
    expect(stderr).toMatch(message);
    expect(code).toBe(1);
  });

  it("requires the file to write", async () => {
    await using project = await Project.create({ "app.js": ITEMS_APP });
    const { code, stderr } = await project.run("client");
    expect(stderr).toMatch(/required option '--out <file>' not specified/);
    expect(code).toBe(2);
  });
});
