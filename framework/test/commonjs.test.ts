/** The package tsgi in applications that are CommonJS, as most of Express and Nest are. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { FRAMEWORK, manifestOf } from "./support/packages.js";
import { compile, compilersWithAPI } from "./support/typescript.js";

const run = promisify(execFile);
const JEST = path.join(FRAMEWORK, "../node_modules/jest/bin/jest.js");
const NAMES = Object.entries(manifestOf("core").exports).flatMap(([key, entry]) =>
  typeof entry === "string" ? [] : path.posix.join("tsgi", key),
);

/** A project with the package, but without the modules of this repository. */
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "tsgi-commonjs-"));
  await mkdir(path.join(folder, "node_modules"));
  await symlink(path.join(FRAMEWORK, "core"), path.join(folder, "node_modules/tsgi"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it("require() and import load the same modules, without a warning", async () => {
  const program = `
    (async () => {
      for (const name of ${JSON.stringify(NAMES)}) {
        if (require(name) !== (await import(name))) console.log(name);
      }
      console.log("compared");
    })();`;
  await writeFile(path.join(folder, "main.cjs"), program);
  const { stdout, stderr } = await run(process.execPath, ["main.cjs"], { cwd: folder });
  expect({ stdout, stderr }).toEqual({ stdout: "compared\n", stderr: "" });
});

it("a test of Jest, without the option for ES modules, calls an App", async () => {
  const program = `
    const http = require("node:http");
    const { App, HTTPException, Request, t } = require("tsgi");
    const { toNodeHandler, nodeRequest } = require("tsgi/node");

    test("an App", async () => {
      const app = new App();
      const Item = t.Object({ since: t.Date(), names: t.Array(t.String()) });
      app.post("/items/{id}", { params: { id: t.Integer(), item: Item, request: Request }, returns: t.Any() }, async (given) => {
        if (given.id === 404) throw new HTTPException(404);
        return { id: given.id, year: given.item.since.getUTCFullYear(), names: given.item.names, user: nodeRequest(given.request).user };
      });
      app.get("/throws", async () => { throw new RangeError("of the sandbox"); });
      app.exceptionHandler(RangeError, (error) => ({ caught: error.message }));
      const handler = toNodeHandler(app);
      const server = http.createServer((req, res) => handler(Object.assign(req, { user: "ada" }), res));
      await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
      const send = async (path, body) => {
        const init = body && { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } };
        const response = await fetch("http://127.0.0.1:" + server.address().port + path, init);
        return [response.status, await response.json()];
      };
      const item = { since: "2026-01-01T00:00:00Z", names: ["a"] };
      expect(await send("/items/1", item)).toEqual([200, { id: 1, year: 2026, names: ["a"], user: "ada" }]);
      expect((await send("/items/x", item))[0]).toBe(422);
      expect((await send("/items/404", item))[0]).toBe(404);
      expect(await send("/throws")).toEqual([500, { caught: "of the sandbox" }]);
      await handler.close();
      server.closeAllConnections();
      server.close();
    });`;
  await writeFile(path.join(folder, "app.test.js"), program);
  const config = { testEnvironment: "node", transform: {}, watchman: false, haste: { enableSymlinks: false } };
  const args = [
    JEST,
    "--rootDir",
    folder,
    "--runInBand",
    "--no-cache",
    "--forceExit",
    "--config",
    JSON.stringify(config),
  ];
  const env = { ...process.env, NODE_OPTIONS: "", JEST_WORKER_ID: undefined };
  const { stderr } = await run(process.execPath, args, { cwd: folder, env, timeout: 60_000 });
  expect(stderr).toContain("1 passed");
});

describe("the types", () => {
  const MAIN = NAMES.map((name, index) => `export * as entry${index} from "${name}";`).join("\n");
  const [, compiler] = compilersWithAPI[0] ?? ["", () => ""];

  it.each([
    ["CommonJS, as of the older templates of Nest", { module: "commonjs", moduleResolution: "node10" }],
    ["nodenext", { module: "nodenext" }],
  ])("are found with the module setting %s", (_what, options) => {
    const files = {
      "main.cts": `${MAIN}\nimport { App } from "tsgi";\nexport const app: App = new App({ tsgi: 1 });\n`,
    };
    const output = compile(compiler(), folder, files, { ...options, paths: {}, preserveSymlinks: false });
    expect(output.trim().split("\n")).toEqual([expect.stringMatching(/^main\.cts\(\d+,\d+\): error TS2353/)]);
  });
});
