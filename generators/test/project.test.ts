import { describe, expect, it } from "@jest/globals";
import type { ProjectOptions } from "../src/answers.js";
import { renderProject } from "../src/project.js";
import type { FrameworkPackage, Template, TemplateFile } from "../src/template.js";

const text = (contents: string, isExecutable = false): TemplateFile => ({
  contents: Buffer.from(contents),
  isExecutable,
});
const json = (value: unknown): TemplateFile => text(JSON.stringify(value));

/** The framework's packages, each with those that it installs. */
const needs = {
  tsgi: ["@tsgi/docs-ui"],
  "@tsgi/cli": ["@tsgi/openapi-tools"],
  "@tsgi/client": [],
  "@tsgi/docs-ui": [],
  "@tsgi/openapi-tools": [],
  "@tsgi/redis": [],
};

const packagesOf = (source: (name: string) => Pick<FrameworkPackage, "specifier" | "tarball">): Template["packages"] =>
  new Map(
    Object.entries(needs).map(([name, dependencies]) => [name, { ...source(name), version: "1.2.3", dependencies }]),
  );

const packed = (path: string) => ({
  specifier: `file:${path}`,
  tarball: { path, read: async () => Buffer.from(`packed ${path}`) },
});

/** The packages as a project carries them along. */
const vendored = packagesOf((name) => packed(`vendor/${name.replace("@tsgi/", "tsgi-")}-1.2.3.tgz`));

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
    ["src/app.ts", text('import { App } from "tsgi";\n')],
    ["test/app.test.ts", text('import { createClient } from "@tsgi/client";\n')],
    ["run.sh", text("#!/bin/sh\n", true)],
  ]),
  overlay: new Map([
    ["_gitignore", text("dist/\n")],
    ["README.md", text("# {{name}}\n")],
    ["_env.example", text("# SECRET_KEY=\nSECRET_KEY=\n# PORT=8000\n")],
  ]),
  workspace: { devDependencies: { jest: "30.0.0" }, overrides: { deep: "1.0.0" }, compilerOptions: { strict: true } },
  packages: packagesOf(() => ({ specifier: "^1.2.3" })),
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
      "test/app.test.ts",
      "test/tsconfig.json",
      "tsconfig.json",
    ]);
    expect(read("src/app.ts")).toBe('import { App } from "tsgi";\n');
    expect(read("README.md")).toBe("# my-app\n");
    expect(files.find(({ path }) => path === "run.sh")?.mode).toBe(0o777);
  });

  it("has a self-contained package.json", async () => {
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
      devDependencies: { "@tsgi/cli": "^1.2.3", "@tsgi/client": "^1.2.3", jest: "30.0.0", prisma: "7.0.0" },
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

  it("omits parts that were not selected: files, scripts, packages", async () => {
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

  it("has compiler options instead of a reference to the workspace's", async () => {
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

  it("has a unique secret in .env, but not in .env.example", async () => {
    const [one, other] = [await render(), await render()];
    const secretOf = (env: string) => /^SECRET_KEY=([\w-]{64})$/m.exec(env)?.[1];
    expect(secretOf(one.read(".env"))).toBeDefined();
    expect(secretOf(other.read(".env"))).not.toBe(secretOf(one.read(".env")));
    expect(one.read(".env.example")).toContain("\nSECRET_KEY=\n");
    expect(one.files.find(({ path }) => path === ".env")).toMatchObject({ mode: 0o600, isKept: true });
  });

  it("includes the packages that it uses if a registry does not have them", async () => {
    const generator = packed("vendor/create-tsgi-1.2.4.tgz");
    const { files, read, readJson } = await render({ packages: vendored, generator });
    expect(files.map(({ path }) => path).filter((path) => path.startsWith("vendor/"))).toEqual([
      "vendor/create-tsgi-1.2.4.tgz",
      "vendor/tsgi-1.2.3.tgz",
      "vendor/tsgi-cli-1.2.3.tgz",
      "vendor/tsgi-client-1.2.3.tgz",
      "vendor/tsgi-docs-ui-1.2.3.tgz",
      "vendor/tsgi-openapi-tools-1.2.3.tgz",
    ]);
    expect(read("vendor/tsgi-1.2.3.tgz")).toBe("packed vendor/tsgi-1.2.3.tgz");
    expect(read("vendor/create-tsgi-1.2.4.tgz")).toBe("packed vendor/create-tsgi-1.2.4.tgz");
    expect(readJson("package.json")).toMatchObject({
      dependencies: { tsgi: "file:vendor/tsgi-1.2.3.tgz" },
      devDependencies: {
        "@tsgi/cli": "file:vendor/tsgi-cli-1.2.3.tgz",
        "@tsgi/client": "file:vendor/tsgi-client-1.2.3.tgz",
        "create-tsgi": "file:vendor/create-tsgi-1.2.4.tgz",
      },
    });
  });

  const indirect = {
    "@tsgi/docs-ui": "file:vendor/tsgi-docs-ui-1.2.3.tgz",
    "@tsgi/openapi-tools": "file:vendor/tsgi-openapi-tools-1.2.3.tgz",
  };

  it.each([
    ["npm", { overrides: { ...indirect, deep: "1.0.0" } }],
    ["yarn", { resolutions: { ...indirect, deep: "1.0.0" } }],
    ["pnpm", {}],
  ] as const)("has %s take indirect packages from vendor/ too", async (packageManager, pins) => {
    const { read, readJson } = await render({ packages: vendored }, { packageManager });
    const manifest = readJson("package.json");
    expect(manifest).toMatchObject(pins);
    expect(manifest).not.toHaveProperty(["dependencies", "@tsgi/docs-ui"]);
    if (packageManager === "pnpm") {
      const lines = Object.entries(indirect).map(([name, path]) => `  "${name}": ${path}\n`);
      expect(read("pnpm-workspace.yaml")).toMatch(new RegExp(`\noverrides:\n${lines.join("")}  deep: 1.0.0\n$`));
    }
  });
});

describe("the framework's packages in a project", () => {
  const own = ["tsgi", ...Object.keys(needs)];

  /** The framework's packages among the dependencies and the development dependencies, for these files. */
  async function listed(files: Record<string, string>, scripts: Record<string, string> = {}) {
    const sources = Object.entries(files).map(([path, contents]) => [path, text(contents)] as const);
    const { readJson } = await render({ files: new Map([["package.json", json({ scripts })], ...sources]) });
    const { dependencies, devDependencies } = readJson("package.json") as Record<string, Record<string, string>>;
    return [dependencies, devDependencies].map((some = {}) => Object.keys(some).filter((name) => own.includes(name)));
  }

  it("are those that its modules import, and the command", async () => {
    expect(await listed({ "src/app.ts": 'import { App } from "tsgi";' })).toEqual([["tsgi"], ["@tsgi/cli"]]);
  });

  it.each([
    ["an entry point", 'import { serve } from "tsgi/node";', "tsgi"],
    ["a type", 'import type { Store } from "@tsgi/redis";', "@tsgi/redis"],
    ["what is exported again", 'export { openRedisStore } from "@tsgi/redis";', "@tsgi/redis"],
    ["a module for its effects", 'import "@tsgi/redis";', "@tsgi/redis"],
    ["a module that is loaded later", 'const { a } = await import("@tsgi/redis");', "@tsgi/redis"],
  ])("are dependencies if a source imports %s", async (_, source, name) => {
    expect(await listed({ "src/app.ts": source })).toEqual([[name], ["@tsgi/cli"]]);
  });

  it.each(["test/a.test.ts", "load-tests/run.js", "scripts/load.js", "AGENTS.md"])(
    "are development dependencies if only %s imports them",
    async (path) => {
      const source = 'import { createClient } from "@tsgi/client";\n';
      expect(await listed({ [path]: source })).toEqual([[], ["@tsgi/cli", "@tsgi/client"]]);
      expect(await listed({ [path]: source, "src/app.ts": source })).toEqual([["@tsgi/client"], ["@tsgi/cli"]]);
    },
  );

  it("have the command as a dependency if the project starts by it", async () => {
    expect(await listed({}, { dev: "tsgi dev", start: "node dist/server.js" })).toEqual([[], ["@tsgi/cli"]]);
    expect(await listed({}, { start: "tsgi run dist/app.js" })).toEqual([["@tsgi/cli"], []]);
  });

  it("are not written if one of them is missing", async () => {
    const packages = new Map([...vendored].filter(([name]) => name !== "@tsgi/client"));
    await expect(render({ packages })).rejects.toThrow(
      "the project uses @tsgi/client, which vendor/ does not have here",
    );
  });
});
