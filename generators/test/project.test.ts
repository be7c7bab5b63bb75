import { describe, expect, it } from "@jest/globals";
import type { ProjectOptions } from "../src/answers.js";
import { renderProject } from "../src/project.js";
import type { Template, TemplateFile } from "../src/template.js";

const text = (contents: string, isExecutable = false): TemplateFile => ({
  contents: Buffer.from(contents),
  isExecutable,
});
const json = (value: unknown): TemplateFile => text(JSON.stringify(value));

const template: Template = {
  files: new Map([
    [
      "package.json",
      json({
        name: "sample",
        description: "an example",
        scripts: {
          build: "npm run --silent --prefix ../framework build && tsc -b",
          start: "node dist/server.js",
          test: "x && node ../node_modules/jest/bin/jest.js -c ../jest.config.js --selectProjects sample -i",
        },
        dependencies: { tsgi: "0.1.0", jose: "6.0.0" },
        devDependencies: { prisma: "7.0.0" },
        engines: { node: ">=20.19" },
        tsgi: { module: "src/main.ts" },
      }),
    ],
    [
      "tsconfig.json",
      json({ extends: "../base", compilerOptions: { outDir: "dist" }, include: ["src"], references: [] }),
    ],
    ["test/tsconfig.json", json({ extends: "../../base", compilerOptions: { noEmit: true }, include: ["."] })],
    ["src/app.ts", text("export {};\n")],
    ["run.sh", text("#!/bin/sh\n", true)],
  ]),
  overlay: new Map([
    ["_gitignore", text("dist/\n")],
    ["README.md", text("# {{name}}\n")],
    ["_env.example", text("# SECRET_KEY=\nSECRET_KEY=\n# PORT=8000\n")],
  ]),
  workspace: { devDependencies: { jest: "30.0.0" }, overrides: { deep: "1.0.0" }, compilerOptions: { strict: true } },
  framework: { specifier: "^1.2.3" },
};

const answers: ProjectOptions["answers"] = {
  name: "my-app",
  template: "auth",
  database: "sqlite",
  docker: true,
  loadTests: true,
  ci: true,
  packageManager: "npm",
};

async function render(changed: Partial<Template> = {}, changedAnswers: Partial<typeof answers> = {}) {
  const options = { answers: { ...answers, ...changedAnswers }, generatorVersion: "0.9.0" };
  const files = await renderProject({ ...template, ...changed }, options);
  const read = (path: string) => files.find((file) => file.path === path)?.contents.toString() ?? "missing";
  return { files, read, readJson: (path: string): unknown => JSON.parse(read(path)) };
}

describe("a project made from a template", () => {
  it("has the template's files, and those that only a project has", async () => {
    const { files, read } = await render();
    expect(files.map(({ path }) => path)).toEqual([
      ".env",
      ".env.example",
      ".gitignore",
      "README.md",
      "package.json",
      "run.sh",
      "src/app.ts",
      "test/tsconfig.json",
      "tsconfig.json",
    ]);
    expect(read("src/app.ts")).toBe("export {};\n");
    expect(read("README.md")).toBe("# my-app\n");
    expect(files.find(({ path }) => path === "run.sh")?.mode).toBe(0o777);
  });

  it("has a package.json that stands alone", async () => {
    const { readJson } = await render();
    expect(readJson("package.json")).toEqual({
      name: "my-app",
      version: "0.1.0",
      private: true,
      type: "module",
      scripts: {
        build: "tsc -b",
        start: "node --env-file-if-exists=.env dist/server.js",
        test: "x && node node_modules/jest/bin/jest.js -i",
      },
      dependencies: { tsgi: "^1.2.3", jose: "6.0.0" },
      devDependencies: { jest: "30.0.0", prisma: "7.0.0" },
      overrides: { deep: "1.0.0" },
      engines: { node: ">=20.19" },
      tsgi: { module: "src/main.ts" },
      "create-tsgi": {
        version: "0.9.0",
        template: "auth",
        database: "sqlite",
        docker: true,
        loadTests: true,
        ci: true,
        packageManager: "npm",
      },
    });
  });

  it("goes without what was not wanted: files, scripts, packages", async () => {
    const { files, readJson } = await render(
      {
        files: new Map([["package.json", json({ scripts: { dev: "tsgi dev", load: "x" }, dependencies: {} })]]),
        overlay: new Map(
          ["Dockerfile", "_dockerignore", "compose.yaml", "load-tests/run.js", "_github/workflows/ci.yml"].map(
            (path) => [path, text("")],
          ),
        ),
        workspace: { ...template.workspace, devDependencies: { autocannon: "9.0.0", tsx: "4.0.0" } },
      },
      { docker: false, loadTests: false, ci: false },
    );
    expect(files.map(({ path }) => path)).toEqual(["package.json"]);
    expect(readJson("package.json")).toMatchObject({ scripts: { dev: "tsgi dev" }, devDependencies: { tsx: "4.0.0" } });
    expect(readJson("package.json")).not.toHaveProperty("scripts.load");
    expect(readJson("package.json")).not.toHaveProperty("devDependencies.autocannon");
  });

  it.each([
    ["npm", "npm run --silent build", { overrides: { deep: "1.0.0" } }, null],
    ["yarn", "yarn run build", { resolutions: { deep: "1.0.0" } }, ".yarnrc.yml"],
    ["pnpm", "pnpm run --silent build", {}, "pnpm-workspace.yaml"],
  ] as const)("speaks to %s", async (packageManager, prestart, pins, file) => {
    const manifest = json({ scripts: { prestart: "npm run --silent build" } });
    const overlay = new Map([["README.md", text("{{install}}\n")]]);
    const { readJson, files, read } = await render(
      { files: new Map([["package.json", manifest]]), overlay },
      { packageManager },
    );
    expect(readJson("package.json")).toMatchObject({ scripts: { prestart }, ...pins });
    expect(read("README.md")).toBe(`${packageManager} install\n`);
    expect(files.map(({ path }) => path).filter((path) => /\.ya?ml$/.test(path))).toEqual(file === null ? [] : [file]);
    expect(packageManager === "pnpm" ? read("pnpm-workspace.yaml") : "deep: 1.0.0").toContain("deep: 1.0.0");
  });

  it("has compiler options of its own in place of the workspace's", async () => {
    const { readJson } = await render();
    expect(readJson("tsconfig.json")).toEqual({
      compilerOptions: { strict: true, outDir: "dist" },
      include: ["src"],
    });
    expect(readJson("test/tsconfig.json")).toEqual({
      extends: "../tsconfig.json",
      compilerOptions: { noEmit: true },
      include: ["."],
    });
  });

  it("has a secret in .env that no other project has, and none in .env.example", async () => {
    const [one, other] = [await render(), await render()];
    const secretOf = (env: string) => /^SECRET_KEY=([\w-]{64})$/m.exec(env)?.[1];
    expect(secretOf(one.read(".env"))).toBeDefined();
    expect(secretOf(other.read(".env"))).not.toBe(secretOf(one.read(".env")));
    expect(one.read(".env.example")).toContain("\nSECRET_KEY=\n");
    expect(one.files.find(({ path }) => path === ".env")).toMatchObject({ mode: 0o600, isKept: true });
  });

  it("carries framework and generator along where they are not to be had from a registry", async () => {
    const packed = (path: string) => ({
      specifier: `file:${path}`,
      tarball: { path, read: async () => Buffer.from(`packed ${path}`) },
    });
    const { read, readJson } = await render({
      framework: packed("vendor/tsgi-1.2.3.tgz"),
      generator: packed("vendor/create-tsgi-1.2.4.tgz"),
    });
    expect(read("vendor/tsgi-1.2.3.tgz")).toBe("packed vendor/tsgi-1.2.3.tgz");
    expect(read("vendor/create-tsgi-1.2.4.tgz")).toBe("packed vendor/create-tsgi-1.2.4.tgz");
    expect(readJson("package.json")).toMatchObject({
      dependencies: { tsgi: "file:vendor/tsgi-1.2.3.tgz" },
      devDependencies: { "create-tsgi": "file:vendor/create-tsgi-1.2.4.tgz" },
    });
  });
});
