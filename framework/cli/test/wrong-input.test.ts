import { describe, expect, it } from "@jest/globals";
import { ITEMS_APP, Project } from "./_project.js";

describe("a wrong line", () => {
  it.each<[what: string, args: string[], message: RegExp]>([
    ["an unknown command", ["rotes"], /unknown command 'rotes'\n\(Did you mean routes\?\)/],
    ["an unknown flag", ["run", "--prot", "1"], /unknown option '--prot'\n\(Did you mean --port\?\)/],
    ["a second module", ["run", "app.js", "other.js"], /too many arguments/],
    [
      "a port that is no number",
      ["run", "--port", "http"],
      /'http' is invalid. Expected a whole number from 0 to 65535/,
    ],
    ["a port out of range", ["run", "--port", "65536"], /from 0 to 65535/],
    ["no workers", ["run", "--workers", "0"], /from 1 to 1024/],
    ["a loop that there is not", ["run", "--loop", "epoll"], /Allowed choices are libuv, uwebsockets/],
    ["half of TLS", ["run", "app.js", "--port", "0", "--tls-key", "key.pem"], /both --tls-key and --tls-cert/],
    ["a shell that there is not", ["completion", "cmd"], /Allowed choices are bash, zsh, fish/],
  ])("with %s prints an error and exits 2", async (_what, args, message) => {
    await using project = await Project.create({ "app.js": ITEMS_APP });
    const { code, stdout, stderr } = await project.run(...args);
    expect(stderr).toMatch(message);
    expect([code, stdout]).toEqual([2, ""]);
  });
});

/** Node 22.18 and later strip types themselves. */
const ifNoStripping = "typescript" in process.features && process.features.typescript ? it.skip : it;

describe("a module that cannot be served", () => {
  type Case = [what: string, files: Record<string, string>, args: string[], message: RegExp];

  const cases: Case[] = [
    [
      "is missing",
      {},
      ["app.ts"],
      /^The file app\.ts does not exist\.\nRead more: tsgi explain TSGI_MODULE_NOT_FOUND\n$/,
    ],
    ["is spelt wrongly", { "src/app.ts": "" }, ["src/ap.ts"], /Did you mean src\/app\.ts\?/],
    ["has another extension", { "src/app.ts": "" }, ["src/app.js"], /Did you mean src\/app\.ts\?/],
    ["is a folder", { "src/app.ts": "" }, ["src"], /src is a folder/],
    ["is not named and not found", {}, [], /No application was found .*\n.*tsgi dev src\/app\.ts/],
    ["exports nothing", { "app.js": "" }, [], /exports no application\.\nIt has no exports\. Write `export const app/],
    ["exports something else", { "app.js": "export const api = 1" }, [], /It exports api, but neither app nor default/],
    [
      "exports the App under another name",
      { "app.js": 'import { App } from "tsgi"; export const limit = 1, api = new App();' },
      [],
      /It exports an App as api\. Write `export \{ api as app \}`\./,
    ],
    [
      "exports the promise of an App",
      { "app.js": 'import { App } from "tsgi"; export const app = (async () => new App())();' },
      [],
      /Its app is a promise\. Write `export const app = await …`\./,
    ],
    ["exports an app of another type", { "app.js": "export const app = {}" }, [], /Its app is of type object/],
  ];

  /** The message or the place is written by Node or `tsx`. */
  const casesOfNode: Case[] = [
    ["throws", { "app.js": 'throw new Error("boom")' }, [], /Error: boom\n {4}at file:.*app\.js:1/],
    ["has a syntax error", { "app.js": "const x = ;" }, [], /app\.js:1\nconst x = ;\n {10}\^/],
    ["has a TypeScript syntax error", { "app.ts": "\nconst x = ;" }, [], /at app\.ts:2:11\n\n {2}const x = ;\n {12}\^/],
    ["imports what there is not", { "app.js": 'import "./no.js"' }, [], /Cannot find module .*no\.js.* imported from/],
    [
      "registers a wrong route",
      { "app.js": 'import { App } from "tsgi";\nexport const app = new App();\napp.get("/x/{id?}", async () => 1);' },
      [],
      /^ConfigurationError: GET \/x\/\{id\?\}: .*\n {4}at file:.*app\.js:3:5\nRead more: tsgi explain TSGI_INVALID_PATH_PATTERN\n$/,
    ],
    [
      "has a wrong dependency in TypeScript",
      { "app.ts": 'import { Depends } from "tsgi";\nDepends(1 as never);' },
      [],
      /^ConfigurationError: Depends\(\) .*\n(.*\n)* {4}at .*app\.ts:2:1\)?\nRead more: tsgi explain TSGI_DEPENDENCY_NOT_CALLABLE\n$/,
    ],
  ];

  it.each(cases)("because it %s: prints an error and exits 1", async (_what, files, args, message) => {
    await using project = await Project.create(files);
    const { code, stderr } = await project.run("routes", ...args);
    expect(stderr).toMatch(message);
    expect(code).toBe(1);
  });

  it.each(casesOfNode)("because it %s: prints an error and exits 1", async (_what, files, args, message) => {
    await using project = await Project.create(files);
    const { code, stderr } = await project.spawn("routes", ...args);
    expect(stderr).toMatch(message);
    expect(code).toBe(1);
  });

  ifNoStripping("because it is TypeScript and no loader is installed: prints the packages to install", async () => {
    await using project = await Project.create({ "app.ts": ITEMS_APP }, { tools: false });
    const { code, stderr } = await project.spawn("run");
    expect(stderr).toMatch(/app\.ts is TypeScript, which Node .* does not run.*\nInstall tsx/);
    expect(code).toBe(1);
  });
});
