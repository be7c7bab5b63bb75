import { describe, expect, it } from "@jest/globals";
import { findRegistrars, guardOf } from "../src/code/registrars.js";
import { SourceFile } from "../src/code/source-file.js";

/** The text after a name was imported, and what it is called there. */
function importInto(text: string, module: string, ...names: string[]) {
  const file = new SourceFile("src/x.ts", text);
  const called = names.map((name) => file.importName(module, name));
  return { text: file.toString(), called };
}

describe("an import", () => {
  it.each([
    ['import { App } from "tsgi";\n', 'import { App, t } from "tsgi";\n'],
    ['import { App, Router, withParams } from "tsgi";\n', 'import { App, Router, t, withParams } from "tsgi";\n'],
    ['import {\n  App, // the app\n} from "tsgi";\n', 'import {\n  App, t, // the app\n} from "tsgi";\n'],
    ['import { t } from "tsgi";\n', 'import { t } from "tsgi";\n'],
    ['import type { App } from "tsgi";\n', 'import type { App } from "tsgi";\nimport { t } from "tsgi";\n'],
    ['import * as tsgi from "tsgi";\n', 'import * as tsgi from "tsgi";\nimport { t } from "tsgi";\n'],
    ['import a from "./a.js";\n', 'import a from "./a.js";\n\nimport { t } from "tsgi";\n'],
    ["export const x = 1;\n", 'import { t } from "tsgi";\n\nexport const x = 1;\n'],
    ["", 'import { t } from "tsgi";\n\n'],
  ])("into %j results in %j", (text, expected) => {
    expect(importInto(text, "tsgi", "t").text).toBe(expected);
  });

  it("is called as the file calls it", () => {
    expect(importInto('import { t as types } from "tsgi";\n', "tsgi", "t").called).toEqual(["types"]);
    expect(importInto('import { "t" as types } from "tsgi";\n', "tsgi", "t").called).toEqual(["types"]);
  });

  it("is written once, even if it is requested several times", () => {
    expect(importInto("", "tsgi", "t", "Depends", "t").text).toBe('import { Depends, t } from "tsgi";\n\n');
    expect(importInto('import { App } from "tsgi";\n', "tsgi", "t", "Depends", "t").text).toBe(
      'import { App, t, Depends } from "tsgi";\n',
    );
  });
});

const source = `import { App, Router } from "tsgi";

// new App() in a comment, and app.get("/comment") too
const text = 'app.get("/text")';

export const items = new Router({ prefix: "/items", tags: ["x"] }); // the items

items.get("", async () => []);
export const addItem = items.post("/{id}", {})(async () => null); /* the last */

export function createApp(): App {
    const app = new App();
    app.includeRouter(items);
    if (process.env["DEBUG"]) {
        app.get("/debug", async () => null);
    }
    app.addMiddleware(x);
    return app;
}
`;

describe("a name for a declaration", () => {
  it("is the requested one, or the next free one with a number", () => {
    const file = new SourceFile("x.ts", 'import { a } from "a";\nconst a2 = 1;\nexport function b() {}\n');
    expect(["a", "b", "c"].map((name) => file.freeName(name))).toEqual(["a3", "b2", "c"]);
  });
});

describe("Apps and Routers", () => {
  it("are found in the syntax tree, with their registrations", () => {
    const found = findRegistrars(new SourceFile("x.ts", source));
    expect(
      found.map(({ kind, variable, prefix, registrations }) => [
        kind,
        variable,
        prefix,
        registrations.map(({ method, path }) => `${method} ${path}`),
      ]),
    ).toEqual([
      ["Router", "items", "/items", ["get ", "post /{id}"]],
      ["App", "app", "", ["includeRouter null", "addMiddleware null"]],
    ]);
  });

  it("are extended after a statement and its comment, at its depth", () => {
    const file = new SourceFile("x.ts", source);
    const [items, app] = findRegistrars(file);
    file.insertAfter(items?.registrations.at(-1)?.statement ?? {}, "items.put(\n  1,\n);", "paragraph");
    file.insertAfter(app?.registrations[0]?.statement ?? {}, "app.mount();", "line");
    const text = file.toString();
    expect(text).toContain("/* the last */\n\nitems.put(\n  1,\n);\n\nexport function");
    expect(text).toContain("    app.includeRouter(items);\n    app.mount();\n    if");
    expect(text.replace("\n\nitems.put(\n  1,\n);", "").replace("\n    app.mount();", "")).toBe(source);
  });

  it("are searched in all files that the compiler would read", () => {
    const modern =
      "await using x = await y();\nconst app = <const T>(a: T) => a satisfies T;\nenum E { A }\n@d class C {}\n";
    expect(findRegistrars(new SourceFile("x.ts", modern))).toEqual([]);
    expect(() => new SourceFile("src/broken.ts", "const =")).toThrow(/^src\/broken\.ts cannot be read: .*1:6/);
  });
});

describe("the guard of a router", () => {
  const shared = "export const user = Depends(getCurrentUser);\nexport const all = [user];\n";
  const open = (name: string) => (name === "./guards.js" ? new SourceFile("src/guards.ts", shared) : null);
  const guardIn = (text: string) => guardOf(findRegistrars(new SourceFile("src/x.ts", text), open)[0]!);
  const route = (account: string) => `items.get("/a", { params: { account: ${account} } }, async () => null);\n`;

  it.each<[where: string, text: string, isShared: boolean, variable?: string | null]>([
    ["in its dependencies", "const items = new Router({ dependencies: [Depends(getCurrentUser)] });\n", true],
    ["in each route", `const items = new Router();\n${route("Security(getCurrentUser, READ)")}`, false],
    [
      "in a variable",
      `const items = new Router();\nexport const user = Depends(getCurrentUser);\n${route("user")}`,
      false,
      "user",
    ],
    [
      "in a variable of another module",
      `import { user as account } from "./guards.js";\nconst items = new Router();\n${route("account")}`,
      false,
      "account",
    ],
    [
      "in the dependencies of another module",
      'import { all } from "./guards.js";\nconst items = new Router({ dependencies: all });\n',
      true,
      "user",
    ],
    [
      "in a variable that its dependencies name",
      "const guards = [Depends(getCurrentUser)];\nconst items = new Router({ dependencies: guards });\n",
      true,
    ],
  ])("is found %s", (_where, text, isShared, variable = null) => {
    expect(guardIn(text)).toEqual({ name: "getCurrentUser", isShared, variable });
  });

  it("does not exist if a route lacks it", () => {
    expect(guardIn(`const items = new Router();\n${route("Depends(getCurrentUser)")}${route("other")}`)).toBeNull();
  });
});
