/** Applications in a bundle with the condition `browser`: they get `dist/web`, and its size has a limit. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { build } from "esbuild";
import { FRAMEWORK, manifestOf } from "./support/packages.js";

const CORE = path.join(FRAMEWORK, "core");

/** Bundles a program as its users do: `esbuild --bundle --minify --format=esm --platform=browser --external:node:*`. */
async function bundle(contents: string, minify = true, external = ["node:*"]): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: CORE, loader: "ts" },
    bundle: true,
    minify,
    format: "esm",
    platform: "browser",
    external,
    write: false,
    logLevel: "silent",
  });
  return outputFiles[0]?.text ?? "";
}

/** KiB of the application of the core's README in gzip. Only ever lower it. */
const MAX_KIB = 94;

it(`the application of the README has at most ${MAX_KIB} KiB in gzip`, async () => {
  const readme = readFileSync(path.join(CORE, "README.md"), "utf8");
  const [, program = ""] = /```ts \[src\/app\.ts\]\n(.*?)```/s.exec(readme) ?? [];
  expect(program).toContain("new App(");
  const kib = gzipSync(await bundle(program)).length / 1024;
  expect(kib).toBeLessThanOrEqual(MAX_KIB);
  expect(kib).toBeGreaterThan(MAX_KIB - 3); // if it is much smaller, lower the limit
});

describe("the variants for the web", () => {
  const sources = path.join(CORE, "src");
  const variants = readdirSync(sources, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".web.ts"),
  );

  it.each(variants)("%s has the exports of the module that it replaces", async (name) => {
    const names = async (file: string) =>
      Object.keys((await import(path.join(CORE, "build", file))) as object).toSorted((left, right) =>
        left < right ? -1 : 1,
      );
    expect(await names(name.replace(/\.ts$/, ".js"))).toEqual(await names(name.replace(/\.web\.ts$/, ".js")));
  });

  it("need no module of Node, so every entry point can be bundled for the web", async () => {
    const entries = Object.entries(manifestOf("core").exports).flatMap(([name, entry]) =>
      typeof entry === "string" || entry.browser === undefined ? [] : [path.join("tsgi", name)],
    );
    expect(entries).toContain("tsgi/internals");
    for (const entry of entries) {
      const program = `import * as all from ${JSON.stringify(entry)}; console.log(all);`;
      expect(await bundle(program, false, [])).toContain("console.log");
    }
  });

  it("are in every entry point that has the condition browser, each class once", async () => {
    const seen = new Map<string, unknown>();
    for (const entry of Object.values(manifestOf("core").exports)) {
      if (typeof entry === "string" || entry.browser === undefined) continue;
      const exported = (await import(path.join(CORE, entry.browser))) as Record<string, unknown>;
      const all = (await import(path.join(CORE, entry.default))) as Record<string, unknown>;
      expect(Object.keys(exported)).toEqual(Object.keys(all));
      for (const [name, value] of Object.entries(exported)) {
        expect([name, !seen.has(name) || seen.get(name) === value]).toEqual([name, true]);
        if (typeof value === "function") expect(value.name).toBe((all[name] as { name: string }).name);
        seen.set(name, value);
      }
    }
    expect(seen.size).toBeGreaterThan(80);
  });
});

describe("an application in a bundle for the web", () => {
  interface Bundled {
    readonly lines: readonly string[];
    readonly app: { fetch(request: Request): Promise<Response> };
    start(options: object): Promise<Response>;
    extend(): unknown;
  }
  let folder: string;
  let bundled: Bundled;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "tsgi-web-"));
    const program = `
      import { App, FileResponse, t } from "tsgi";
      import { cors } from "tsgi/middleware";
      export const lines = [];
      const add = (fields, message) => void lines.push(message);
      const logger = { debug: add, info: add, warn: add, error: add };
      export const app = new App({ logger, middleware: [cors({ allowOrigins: ["https://page.test"] })] });
      app.get("/items/{id}", { params: { id: t.Integer() }, returns: t.Object({ id: t.Integer() }) }, async ({ id }) => ({ id, secret: 1 }));
      app.get("/pooled", () => "inline");
      app.get("/file", async () => new FileResponse("app.ts"));
      export const start = (options) => {
        const other = new App({ logger, ...options });
        other.get("/", () => 1);
        return other.fetch(new Request("http://localhost/"));
      };
      export const extend = () => t.Extends(t.String(), t.String(), t.Number(), t.Null());
    `;
    const file = path.join(folder, "bundle.mjs");
    writeFileSync(file, await bundle(program, false));
    bundled = (await import(pathToFileURL(file).href)) as Bundled;
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const get = async (target: string) => {
    const response = await bundled.app.fetch(new Request(`http://localhost${target}`));
    return { status: response.status, body: await response.json().catch(() => null) };
  };

  it("converts parameters, removes unknown properties and describes itself", async () => {
    expect(await get("/items/7")).toEqual({ status: 200, body: { id: 7 } });
    expect((await get("/items/x")).status).toBe(422);
    expect((await get("/items/7/parts")).status).toBe(404);
    const { body } = await get("/openapi.json");
    expect(Object.keys((body as { paths: object }).paths)).toEqual(["/items/{id}", "/pooled", "/file"]);
  });

  it("runs non-async handlers inline, with one warning", async () => {
    expect(await get("/pooled")).toEqual({ status: 200, body: "inline" });
    expect(bundled.lines.filter((line) => line.includes("inline"))).toEqual([
      "1 route runs inline on this platform, which has no worker processes, as its handler is not async: GET /pooled",
    ]);
  });

  it("rejects a pool of processes at startup, and files when they are sent", async () => {
    expect((await bundled.start({ pool: { kind: "process" } })).status).toBe(503);
    expect(bundled.lines.join()).toContain('pool: { kind: "process" } needs node:child_process');
    expect((await get("/file")).status).toBe(500);
    expect(bundled.lines.join()).toContain("FileResponse needs node:fs/promises");
  });

  it("rejects shed, because the platform does not show the delay of its event loop", () => {
    expect(() => bundled.start({ shed: { eventLoopDelayMs: 100 } })).toThrow(
      expect.objectContaining({ code: "TSGI_MISSING_PLATFORM_MODULE" }),
    );
  });

  it("has codes and facts instead of messages if it is for production", async () => {
    const program = `import { App } from "tsgi"; export const start = () => new App({ titel: "Shop" });`;
    const file = path.join(folder, "production.mjs");
    writeFileSync(file, await bundle(program));
    const { start } = (await import(pathToFileURL(file).href)) as { start: () => unknown };
    expect(start).toThrow(
      /^TSGI_UNKNOWN_OPTION: .*titel.* Run "npx tsgi explain TSGI_UNKNOWN_OPTION" for an explanation\.$/s,
    );
  });

  it("explains where to find a function of TypeBox that the bundle does not contain", () => {
    expect(() => bundled.extend()).toThrow(expect.objectContaining({ code: "TSGI_SCHEMA_FUNCTION_LEFT_OUT" }));
  });
});
