import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { type TSchema, Type } from "@sinclair/typebox";
import { build as esbuild } from "esbuild";
import { FRAMEWORK, manifestOf, PACKAGES } from "./support/packages.js";

const run = promisify(execFile);

const CORE = path.join(FRAMEWORK, "core");
const DIST = path.join(CORE, "dist");
const SOURCES = path.join(CORE, "src");

const filesBelow = (folder: string, ending: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => path.join(folder, name));

/** The sources of a map, as absolute paths. */
function sourcesOf(map: string): string[] {
  const { sources } = JSON.parse(readFileSync(map, "utf8")) as { sources: string[] };
  return sources.map((source) => path.resolve(path.dirname(map), source));
}

const doors = Object.values(manifestOf("core").exports).flatMap((entry) =>
  typeof entry === "string" ? [] : [entry.default],
);

const load = async (file: string) =>
  (await import(pathToFileURL(path.join(CORE, file)).href)) as Record<string, unknown>;

/** A schema of each kind that the comparison of schemas distinguishes. */
const schemasOf = (t: typeof Type): TSchema[] =>
  [
    [t.Any(), t.Unknown(), t.Never(), t.Null(), t.Undefined(), t.Void(), t.Integer(), t.Number(), t.String()],
    [t.Boolean(), t.BigInt(), t.Symbol(), t.Date(), t.Uint8Array(), t.RegExp("a"), t.Ref("Other")],
    [t.Literal("a"), t.Literal(1), t.Literal(true), t.TemplateLiteral("a${string}"), t.TemplateLiteral("a${1|2}")],
    [t.Array(t.Integer()), t.Array(t.Any()), t.Tuple([]), t.Tuple([t.String(), t.Number()])],
    [t.Object({}), t.Object({ a: t.Optional(t.String()) }), t.Object({ length: t.Number() })],
    [t.Record(t.String(), t.Number()), t.Record(t.Number(), t.String()), t.Not(t.String()), t.Enum({ A: "a", B: 2 })],
    [t.Union([t.Literal("a"), t.Number()]), t.Intersect([t.Object({ a: t.String() }), t.Object({ b: t.Any() })])],
    [t.Promise(t.String()), t.Iterator(t.String()), t.AsyncIterator(t.String()), t.Unsafe({ type: "string" })],
    [t.Function([t.String()], t.Number()), t.Constructor([], t.Object({})), t.Optional(t.String())],
  ].flat();

describe("the bundle", () => {
  it("holds each module, and so each class and each state of a module, in one of its files only", () => {
    const sources = filesBelow(DIST, ".js.map").flatMap(sourcesOf);
    expect(sources.filter((source, index) => sources.indexOf(source) !== index)).toEqual([]);
    expect(sources.filter((source) => source.startsWith(SOURCES)).length).toBeGreaterThan(200);
  });

  it("exports the same value from several entry points", async () => {
    const seen = new Map<string, unknown>();
    for (const door of doors) {
      for (const [name, value] of Object.entries(await load(door))) {
        expect([name, !seen.has(name) || seen.get(name) === value]).toEqual([name, true]);
        seen.set(name, value);
      }
    }
    expect(seen.size).toBeGreaterThan(80);
  });

  it("keeps the names of functions and classes", async () => {
    const names = (module: Record<string, unknown>) =>
      Object.entries(module).flatMap(([name, value]) => (typeof value === "function" ? [[name, value.name]] : []));
    for (const door of doors) expect(names(await load(door))).toEqual(names(await load(door.replace("dist", "build"))));
  });

  it("breaks no template literal into two lines", async () => {
    const { HTMLResponse } = (await load("dist/index.js")) as { HTMLResponse: new (html: string) => Response };
    expect(new HTMLResponse("").headers.get("content-type")).toBe("text/html; charset=utf-8");
  });

  it("has maps and declarations that lead to the sources, which the package holds", () => {
    const maps = [...filesBelow(DIST, ".js.map"), ...filesBelow(DIST, ".d.ts.map")];
    const sources = maps.flatMap(sourcesOf).filter((source) => !source.includes("node_modules"));
    const present = new Set(filesBelow(SOURCES, ".ts"));
    expect(sources.filter((source) => !present.has(source))).toEqual([]);
    expect(filesBelow(DIST, ".d.ts").length).toBe(present.size);
  });

  it("shows the sources in the stack of an error", async () => {
    const script =
      'import { App } from "tsgi"; try { new App().get("/{", async () => 1); } catch (error) { console.log(error.stack); }';
    const args = ["--enable-source-maps", "--input-type=module", "--eval", script];
    const { stdout } = await run(process.execPath, args, { cwd: CORE });
    const [, file = "", line = ""] = /\((.+?):(\d+):\d+\)/.exec(stdout) ?? [];
    expect(path.relative(SOURCES, file)).toMatch(/^\w.*\.ts$/);
    expect(readFileSync(file, "utf8").split("\n")[Number(line) - 1]).toContain("Error(");
  });

  it("compares schemas as TypeBox does, of which it holds only the guards of kinds", async () => {
    const { t } = (await load("dist/index.js")) as { t: typeof Type };
    const pairs = (builder: typeof Type) => {
      const schemas = schemasOf(builder);
      return schemas.flatMap((left) => schemas.map((right) => [left, right] as const));
    };
    const results = (builder: typeof Type) =>
      pairs(builder).map(([left, right]) => {
        try {
          const extended = builder.Extends(left, right, builder.Literal("yes"), builder.Literal("no"));
          return JSON.stringify([extended, builder.Exclude(left, right), builder.Extract(left, right)]);
        } catch (error) {
          return String(error);
        }
      });
    expect(results(t)).toEqual(results(Type));
  });

  it("loads, for the main entry point, at most 422 kB, no module of Node and no package", () => {
    const seen = new Set<string>();
    let size = 0;
    const visit = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      if (!file.startsWith(DIST)) return;
      const text = readFileSync(file, "utf8");
      size += text.length;
      for (const [, name = ""] of text.matchAll(/(?<=^|;\n?)(?:import|export)\b[^;"]*?(?:\bfrom\s*)?"([^"]+)"(?=;)/gm))
        visit(name.startsWith(".") ? path.resolve(path.dirname(file), name) : name);
    };
    visit(path.join(DIST, "index.js"));
    expect([...seen].filter((file) => !file.startsWith(DIST))).toEqual([]);
    expect(seen.size).toBeGreaterThan(5);
    expect(size).toBeLessThan(422_000);
  });
});

/** Entry points of applications that run on any platform. */
const EVERYWHERE = ["", "/middleware", "/openapi", "/pagination", "/security", "/web"];

describe("a bundle for the web", () => {
  it.each(EVERYWHERE)("of tsgi%s imports no external modules, including modules of Node", async (name) => {
    const { metafile } = await esbuild({
      stdin: { contents: `export * from "tsgi${name}";`, resolveDir: CORE },
      bundle: true,
      format: "esm",
      platform: "browser",
      conditions: ["browser"],
      write: false,
      metafile: true,
      logLevel: "silent",
    });
    expect(Object.values(metafile.outputs).flatMap(({ imports }) => imports)).toEqual([]);
  });
});

describe("the packages that an application imports", () => {
  it("mark each import of a file that exists only at run time, which webpack and Vite cannot follow", () => {
    const files = PACKAGES.filter((folder) => !["cli", "docs-ui"].includes(folder)).flatMap((folder) =>
      filesBelow(path.join(FRAMEWORK, folder, "dist"), ".js"),
    );
    const unmarked = /\bimport\((?!["']|\/\* webpackIgnore: true \*\/\/\* @vite-ignore \*\/)/;
    expect(files.length).toBeGreaterThan(60);
    expect(files.filter((file) => unmarked.test(readFileSync(file, "utf8")))).toEqual([]);
  });
});

describe("the build", () => {
  let folder: string;
  const file = (name: string) => path.join(folder, name);
  const build = () => run(process.execPath, [path.join(FRAMEWORK, "scripts/build.js"), folder]);
  const answer = async (): Promise<string> =>
    (
      await run(process.execPath, ["--eval", `import("./dist/index.js").then((it) => console.log(it.answer()))`], {
        cwd: folder,
      })
    ).stdout.trim();

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tsgi-build-"));
    const manifest = { type: "module", bin: "bin.js", exports: { ".": { default: "./dist/index.js" } } };
    await writeFile(file("package.json"), JSON.stringify(manifest));
    for (const name of ["src", "build", "dist"]) await mkdir(file(name), { recursive: true });
    await writeFile(file("src/main.ts"), 'import { answer } from "./answer.js"; answer();');
    await writeFile(
      file("src/answer.ts"),
      'export const answer = () => new URL("../x.txt", import.meta.url).pathname;',
    );
    await writeFile(file("src/index.ts"), 'export { answer } from "./answer.js";');
    await build();
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("imports only packages that its workspace declares, because others may not be installed", () => {
    const manifest = readFileSync(path.join(FRAMEWORK, "package.json"), "utf8");
    const declared = Object.keys((JSON.parse(manifest) as { devDependencies: object }).devDependencies);
    const imported = filesBelow(path.join(FRAMEWORK, "scripts"), ".js")
      .filter((script) => /(?:build|bundle|shorten|assets)\.js$/.test(script))
      .flatMap((script) => [...readFileSync(script, "utf8").matchAll(/^import .* from "((?![.]|node:)[^"]+)"/gm)])
      .map(([, name]) => name);
    expect(imported).toContain("esbuild");
    expect(imported.filter((name) => !declared.includes(name as string))).toEqual([]);
  });

  it("keeps the places that a module names", async () => {
    expect(await answer()).toBe(file("x.txt"));
  });

  it("writes no files if no source has changed", async () => {
    const { mtimeMs } = await stat(file("dist/index.js"));
    await build();
    expect((await stat(file("dist/index.js"))).mtimeMs).toBe(mtimeMs);
  });

  it("follows each change of a source, even one with an old date", async () => {
    const text = 'export const answer = () => "new";';
    const { atime, mtime } = await stat(file("src/answer.ts"));
    await writeFile(file("src/answer.ts"), text);
    await utimes(file("src/answer.ts"), atime, mtime);
    await build();
    expect(await answer()).toBe("new");
  });

  it("creates missing files, and removes files without a source", async () => {
    await rm(file("dist/main.js"));
    await writeFile(file("dist/removed.d.ts"), "");
    await writeFile(file("build/removed.js"), "");
    await build();
    expect(readdirSync(file("dist"))).not.toContain("removed.d.ts");
    expect(readdirSync(file("build"))).toEqual([]);
    expect(await readFile(file("dist/main.js"), "utf8")).toContain("answer");
  });

  it("breaks long lines only between tokens", async () => {
    const long = "x".repeat(100);
    const type = `/;[ ]*charset=/i.test(type) ? "" : \`\${type}; charset=${long}\``;
    const list = `\`\${type}, ${long},${long}{ ${long};\``;
    const source = `const answer = (type = String(import.meta.url.length > 0)) =>\n  [${type}, ${list}].join("|");`;
    await writeFile(file("src/index.ts"), `${source}\nexport { answer };`);
    await build();
    expect(await answer()).toBe(`true; charset=${long}|true, ${long},${long}{ ${long};`);
    expect(readFileSync(file("dist/index.js"), "utf8").split("\n").length).toBeGreaterThan(3);
  });
});
