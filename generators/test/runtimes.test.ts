import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "@jest/globals";
import { parseArguments } from "../src/arguments.js";
import { describeNextSteps, nextSteps } from "../src/next-steps.js";
import { renderProject } from "../src/project.js";
import type { ProjectOptions } from "../src/answers.js";
import { fromRuntime, runtimesOf, toRuntime } from "../src/runtimes.js";
import { readTarball } from "../src/tarball.js";
import type { FrameworkPackage } from "../src/template.js";
import { createTsgi } from "./in-process.js";
import { templateOf } from "./repository-templates.js";
import { scaffold } from "./scaffolded.js";
import { temporaryFolder } from "./support.js";

type Answers = ProjectOptions["answers"];

const base: Answers = {
  name: "@acme/my-app",
  template: "api",
  database: "none",
  docker: true,
  loadTests: false,
  ci: true,
  packageManager: "npm",
};

const asPublished = ({ dependencies, version }: FrameworkPackage) => ({ dependencies, version, specifier: "^1.2.3" });

/** A project as the published package writes it. */
async function render(changed: Partial<Answers>) {
  const template = templateOf(changed.template ?? base.template);
  const { generator: _, packages, ...published } = template;
  const files = await renderProject(
    { ...published, packages: new Map([...packages].map(([name, one]) => [name, asPublished(one)])) },
    { answers: { ...base, ...changed }, generatorVersion: "0.9.0" },
  );
  const read = (path: string) => files.find((file) => file.path === path)?.contents.toString() ?? "missing";
  return { paths: files.map(({ path }) => path), read, texts: files.map(({ contents }) => contents.toString()) };
}

const parse = (...argv: string[]) => parseArguments(argv, {});

describe("a project on Bun", () => {
  it.each(["minimal", "api"] as const)("is TypeScript that Bun starts and tests: %s", async (template) => {
    const { paths, read } = await render({ template, runtime: "bun" });
    expect(paths).toEqual(expect.arrayContaining(["Dockerfile", "package.json", "src/main.ts", "tsconfig.json"]));
    expect(paths.filter((path) => /jest|load-tests|^test\/tsconfig|bunfig/.test(path))).toEqual([]);
    const { scripts, devDependencies, engines } = JSON.parse(read("package.json"));
    expect(scripts).toEqual({
      dev: "bun --watch src/main.ts",
      start: "bun src/main.ts",
      test: "bun test",
      check: "oxfmt --check && tsc && oxlint",
      format: "oxlint --fix && oxfmt",
    });
    expect(Object.keys(devDependencies)).toEqual(expect.arrayContaining(["@types/bun", "@tsgi/client", "typescript"]));
    expect(Object.keys(devDependencies).filter((name) => /jest|swc|tsx|autocannon/.test(name))).toEqual([]);
    expect(engines).toEqual({ bun: expect.any(String) });
    expect(JSON.parse(read("tsconfig.json"))).toMatchObject({
      compilerOptions: { noEmit: true, types: ["bun"] },
      include: ["src", "test"],
    });
    expect(read("README.md")).toContain("bun install\nbun run dev");
    expect(read("Dockerfile")).toContain("FROM oven/bun");
    expect(read(".github/workflows/ci.yml")).toContain("oven-sh/setup-bun");
    expect(read(template === "api" ? "test/items.test.ts" : "test/app.test.ts")).toContain('from "bun:test"');
  });
});

describe("a project on Deno", () => {
  it.each(["minimal", "api"] as const)("has a deno.json, and imports files by their names: %s", async (template) => {
    const { paths, read, texts } = await render({ template, runtime: "deno" });
    expect(paths.filter((path) => /jest|package\.json|tsconfig|oxlint|oxfmt|load-tests/.test(path))).toEqual([]);
    const { tasks, imports, links, ...rest } = JSON.parse(read("deno.json"));
    expect(Object.keys(tasks)).toEqual(["dev", "start", "test", "check", "format"]);
    expect(imports).toMatchObject({
      tsgi: "npm:tsgi@^1.2.3",
      "@tsgi/client": "npm:@tsgi/client@^1.2.3",
      "@tsgi/cli": "npm:@tsgi/cli@^1.2.3",
    });
    expect(links).toBeUndefined();
    expect(rest["create-tsgi"]).toEqual({
      version: "0.9.0",
      name: "@acme/my-app",
      template,
      runtime: "deno",
      docker: true,
      ci: true,
    });
    expect(read("src/main.ts")).toContain('from "./app.ts"');
    expect(texts.filter((text) => /from "\.{1,2}\/[^"]*\.js"|@jest\/globals/.test(text))).toEqual([]);
    expect(read("README.md")).toContain("deno install\ndeno task dev");
    expect(read("README.md")).toContain("deno run -A npm:create-tsgi router orders");
    expect(read("Dockerfile")).toContain("FROM denoland/deno");
    expect(read(".github/workflows/ci.yml")).toContain("denoland/setup-deno");
  });

  it("links the folders of packages that it carries along, since Deno installs no tarballs", async () => {
    await using project = await scaffold("minimal", "--runtime=deno");
    const { imports, links } = JSON.parse(await readFile(join(project.path, "deno.json"), "utf8"));
    const names = ["@tsgi/cli", "@tsgi/client", "@tsgi/docs-ui", "@tsgi/openapi-tools", "tsgi"];
    expect(links).toEqual(names.map((name) => `./vendor/${name}`));
    for (const name of names) {
      const linked = JSON.parse(await readFile(join(project.path, "vendor", name, "package.json"), "utf8"));
      expect(linked.name).toBe(name);
      expect(imports[name] ?? "not imported").toBe(
        /docs-ui|openapi-tools/.test(name) ? "not imported" : `npm:${name}@${linked.version}`,
      );
    }
    expect(await readFile(join(project.path, "README.md"), "utf8")).not.toContain("create-tsgi router");
  });

  it("gets code with its own form of imports, once", async () => {
    await using project = await scaffold("api", "--runtime=deno");
    const [first, again, dependency] = await project.createInOrder([
      ["router", "orders"],
      ["router", "orders"],
      ["dependency", "tenant"],
    ]);
    expect([first?.status, again?.status, dependency?.status]).toEqual([0, 0, 0]);
    const files = await project.files();
    const app = files.get("src/app.ts") ?? "";
    expect(app.match(/from "\.\/routes\/orders\.ts"/g)).toHaveLength(1);
    expect(files.get("test/orders.test.ts")).toMatch(/from "node:test";[^]*from "\.\.\/src\/app\.ts"/);
    expect([...files.values()].filter((text) => /from "\.{1,2}\/[^"]*\.js"/.test(text))).toEqual([]);
  });
});

describe("a project on Workers", () => {
  it.each(["minimal", "api"] as const)("has a worker, its settings and a test on workerd: %s", async (template) => {
    const { paths, read } = await render({ template, runtime: "workers", docker: false });
    expect(paths).toEqual(expect.arrayContaining(["src/worker.ts", "test/worker.test.ts", "wrangler.jsonc"]));
    expect(paths.filter((path) => /Docker|compose|load-tests|src\/main/.test(path))).toEqual([]);
    expect(read("src/worker.ts")).toContain('toFetchHandler(app, { clientAddressHeader: "CF-Connecting-IP" })');
    expect(read("wrangler.jsonc")).toContain('"name": "my-app"');
    const { scripts, devDependencies, engines } = JSON.parse(read("package.json"));
    expect(scripts).toMatchObject({ dev: "wrangler dev", deploy: "wrangler deploy" });
    expect(devDependencies).toMatchObject({ wrangler: expect.stringMatching(/^\d/), jest: expect.any(String) });
    expect(engines).toEqual({ node: ">=22.12" });
    expect(read(".gitignore")).toContain(".wrangler/");
    expect(read(".github/workflows/ci.yml")).toMatch(/node: \[22, 24\]/);
    expect(read("README.md")).toContain("npm run deploy");
  });

  it("gets no WebSocket, which app.fetch does not open", async () => {
    await using project = await scaffold("minimal", "--runtime=workers");
    const socket = await project.create("websocket", "/rooms");
    expect(socket).toMatchObject({ status: 1, stderr: expect.stringContaining("opens no WebSockets") });
  });
});

describe("a project on Node", () => {
  it("is the same with and without --runtime node", async () => {
    const [one, other] = [await render({}), await render({ runtime: "node" })];
    expect(other.paths).toEqual(one.paths);
    expect(other.texts).toEqual(one.texts);
    expect(one.read("package.json")).not.toContain("runtime");
  });
});

describe("the flag --runtime", () => {
  it.each([
    [["--runtime=bun", "--template=auth"], /auth does not run on Bun: .*--template api or --template minimal/],
    [["--runtime=deno", "--template=auth"], /auth does not run on Deno/],
    [["--runtime=workers", "--template=auth"], /auth does not run on Workers/],
    [["--runtime=workers", "--docker"], /no Dockerfile/],
    [["--runtime=bun", "--load-tests"], /load test runs on Node/],
    [["--runtime=deno", "--package-manager=npm"], /Deno installs packages itself/],
    [["--runtime=php"], /node, bun, deno, workers/],
  ])("rejects %j with the reason", (argv, message) => {
    expect(() => parse(...argv)).toThrow(message);
  });

  it("accepts omitted values, and every template on Node", () => {
    expect(parse("--runtime=bun", "--no-load-tests", "--no-docker")).toMatchObject({ runtime: "bun", docker: false });
    expect(parse("--runtime=node", "--template=auth", "--load-tests")).toMatchObject({ template: "auth" });
    const projects = [
      { template: "auth", database: "sqlite" },
      { template: "api", database: "none" },
      { template: "api", database: "postgresql" },
      { template: "minimal", database: "none" },
    ] as const;
    expect(projects.map((project) => runtimesOf(project).length)).toEqual([1, 4, 1, 4]);
  });

  it("rejects before it writes files, with status 2", async () => {
    await using folder = await temporaryFolder();
    const flags = ["--yes", "--runtime=bun", "--template=auth", "--into", join(folder.path, "none")];
    const { status, stderr } = await createTsgi(["my-app", ...flags], { cwd: folder.path });
    expect([status, stderr]).toEqual([2, expect.stringContaining("written for Node")]);
    await expect(readFile(join(folder.path, "none"))).rejects.toThrow("ENOENT");
  });

  it("selects the template api by default, and prints the choice", async () => {
    await using folder = await temporaryFolder();
    const flags = ["--yes", "--runtime=workers", "--dry-run"];
    const { status, stdout } = await createTsgi(["my-app", ...flags], { cwd: folder.path });
    expect(status).toBe(0);
    expect(stdout).toContain("Using these defaults: template api, ci yes, package manager npm, git yes");
    expect(stdout).toContain("wrangler.jsonc");
  });
});

describe("the next steps", () => {
  const project = { folder: "/home/x/my-app", isInstalled: false };

  it.each([
    ["bun", ["cd my-app", "bun install", "bun run start", "bun run dev", "bun test"]],
    ["deno", ["cd my-app", "deno install", "deno task start", "deno task dev", "deno task test"]],
    ["workers", ["cd my-app", "npm install", "npm run dev", "npm test", "npm run deploy"]],
  ] as const)("on %s", (runtime, commands) => {
    expect(nextSteps(project, { ...base, runtime }, "/home/x").map(({ command }) => command)).toEqual(commands);
    expect(describeNextSteps(project, { ...base, runtime }, "/home/x")).toContain("http://127.0.0.1:8000/items");
  });
});

describe("a module of a template", () => {
  const text = 'import { describe, expect, it } from "@jest/globals";\n\nimport { app } from "../src/app.js";\n';

  it.each([
    ["node", text],
    ["workers", text],
    ["bun", text.replace("@jest/globals", "bun:test")],
    [
      "deno",
      'import { expect } from "expect";\nimport { describe, it } from "node:test";\n\nimport { app } from "../src/app.ts";\n',
    ],
  ] as const)("is written for %s, and read back", (runtime, expected) => {
    expect(toRuntime(text, runtime)).toBe(expected);
    expect(toRuntime(expected, runtime)).toBe(expected);
    expect(fromRuntime(toRuntime('import { a } from "./a.js";', runtime), runtime)).toBe('import { a } from "./a.js";');
  });
});

describe("a tarball", () => {
  /** An entry in the format of POSIX.1-1988; only the parts that are read. */
  function entry(path: string, content: string, type = "0", prefix = ""): Buffer {
    const header = Buffer.alloc(512);
    header.write(path, 0);
    header.write(content.length.toString(8).padStart(11, "0"), 124);
    header.write(type, 156);
    header.write(prefix, 345);
    return Buffer.concat([header, Buffer.from(content), Buffer.alloc((512 - (content.length % 512)) % 512)]);
  }

  it("contains its files below package/, of any size, and no folders", () => {
    const big = "x".repeat(1025);
    const entries = [
      entry("package/a.js", "a"),
      entry("package/sub", "", "5"),
      entry("b.js", big, "0", "package/deep"),
    ];
    const files = readTarball(gzipSync(Buffer.concat([...entries, Buffer.alloc(1024)])));
    expect([...files].map(([path, contents]) => [path, contents.toString()])).toEqual([
      ["a.js", "a"],
      ["deep/b.js", big],
    ]);
  });

  it("is rejected if a name is in an extended header", () => {
    expect(() => readTarball(gzipSync(entry("PaxHeader/x", "", "x")))).toThrow("extended header");
  });
});
