import { createRequire } from "node:module";
import path from "node:path";
import { describe, expect, it } from "@jest/globals";
import type * as Compiler from "typescript-5.9";
import { declarationPaths, FRAMEWORK } from "../support/packages.js";

const ts = createRequire(import.meta.url)("typescript-5.9") as typeof Compiler;

const SOURCE = `import { App, Depends, Query, t, withParams } from "tsgi";
import { type ApiOf, createClient } from "@tsgi/client";
const app = new App();
const User = t.Object({ name: t.String() });
const getPage = withParams({ page: Query(t.Integer(), { default: 1 }) }, async ({ page }) => page * 20);
app.get("/text/{id}", async ({ id: pathText }) => pathText);
app.post(
  "/users/{id}",
  { params: { id: t.Integer(), user: User, q: Query({ default: null }), offset: Depends(getPage) }, returns: User },
  async ({ id, user, q, offset }) => ({ name: user.name + id + q + offset }),
);
async function* openDatabase() {
  yield { query: async (sql: string) => [sql] };
}
const database = Depends(openDatabase, { scope: "app", check: (opened) => opened.query("select 1") });
app.get("/rows", { params: { db: database } }, async ({ db }) => db.query("select 1"));
app.websocket("/ws", async ({ ws }) => ws.accept());
const Item = t.Object({ id: t.Integer(), due: t.Optional(t.Date()) });
const routes = { readItem: app.get("/items/{item_id}", { params: { item_id: t.Integer() }, returns: Item }, async ({ item_id }) => ({ id: item_id })) };
const client = createClient<ApiOf<typeof routes>>();
const { data: called, error: failed } = await client.GET("/items/{item_id}", { params: { path: { item_id: 1 } } });
`;

const FILE = path.join(FRAMEWORK, "test/types/hover.ts");

const service = ts.createLanguageService({
  getCompilationSettings: () => ({
    strict: true,
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    skipLibCheck: true,
    types: [],
    paths: declarationPaths(),
  }),
  getScriptFileNames: () => [FILE],
  getScriptVersion: () => "1",
  getScriptSnapshot: (name) => {
    const text = name === FILE ? SOURCE : ts.sys.readFile(name);
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
  },
  getCurrentDirectory: () => FRAMEWORK,
  getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
  fileExists: (name) => name === FILE || ts.sys.fileExists(name),
  readFile: (name) => ts.sys.readFile(name),
});

/** The hover text of an editor for the first binding of a name, in a handler or of a call's result. */
function hover(name: string): string {
  const binding = new RegExp(`(?:async \\(|const )\\{[^}]*\\b${name}\\b`).exec(SOURCE);
  const position = (binding?.index ?? 0) + (binding?.[0].length ?? 0) - 1;
  return ts.displayPartsToString(service.getQuickInfoAtPosition(FILE, position)?.displayParts);
}

const hovers = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, hover(name)]));

describe("an editor", () => {
  it("shows a handler's parameters by the plain types of their values", () => {
    expect(hovers(["page", "pathText", "user", "q", "offset", "db", "ws"])).toEqual({
      page: "(parameter) page: number",
      pathText: "(parameter) pathText: string",
      user: "(parameter) user: {\n    name: string;\n}",
      q: "(parameter) q: string | null",
      offset: "(parameter) offset: number",
      db: "(parameter) db: {\n    query: (sql: string) => Promise<string[]>;\n}",
      ws: "(parameter) ws: WebSocket",
    });
  });

  it("shows the response of a client's call with plain types", () => {
    expect(hovers(["called", "failed"])).toEqual({
      called: "const called: {\n    due?: string | undefined;\n    id: number;\n} | undefined",
      failed: "const failed: HTTPValidationError | undefined",
    });
  });
});
