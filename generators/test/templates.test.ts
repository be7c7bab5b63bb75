import { existsSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { templateNames, type TemplateName } from "../src/options.js";
import { PackedTemplates, packTemplates } from "../src/packed-templates.js";
import type { ProjectOptions } from "../src/answers.js";
import { renderProject } from "../src/project.js";
import type { ProjectFile } from "../src/project-file.js";
import { Repository } from "../src/repository.js";
import type { Template } from "../src/template.js";
import { findTemplates } from "../src/templates.js";
import { packageRoot, repositoryRoot, run, temporaryFolder } from "./support.js";

function repository(): Repository {
  const found = Repository.find(packageRoot);
  if (!found) {
    throw new Error("the tests run in the repository");
  }
  return found;
}

const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1);

const plain = (files: Template["files"]) =>
  [...files].map(([path, { contents, isExecutable }]) => ({ path, isExecutable, text: contents.toString("utf8") }));

/** The path of each template in Git. */
const sources = {
  auth: "sample-auth-app",
  api: "generators/starters/api",
  minimal: "generators/starters/minimal",
} as const;

const answers = {
  name: "my-app",
  docker: true,
  loadTests: true,
  ci: true,
  packageManager: "npm",
} as const;

/** A project of the repository's template, without the packages that it would carry along. */
function render(template: TemplateName, changed: Partial<ProjectOptions["answers"]> = {}): Promise<ProjectFile[]> {
  const { packages, generator: _, ...source } = repository().read(template);
  const database = template === "auth" ? "sqlite" : "none";
  return renderProject(
    { ...source, packages: new Map([...packages].map(([name, { tarball: __, ...one }]) => [name, one])) },
    { answers: { ...answers, template, database, ...changed }, generatorVersion: "0.0.0" },
  );
}

/** Projects without a database have other files. */
describe("the template api with a database", () => {
  it.each(["sqlite", "postgresql"] as const)(
    "has no placeholder left, and the name of the project: %s",
    async (database) => {
      const files = await render("api", { database, name: "@acme/x" });
      const left = files.map(({ path, contents }) => [path, /\{\{[#^/]?\w+\}\}/.exec(contents.toString("utf8"))?.[0]]);
      expect(left.filter(([, placeholder]) => placeholder !== undefined)).toEqual([]);
      const app = files.find(({ path }) => path === "src/app.ts")?.contents.toString("utf8");
      expect(app).toMatch(/new App\(\{\s*title: "x"/);
    },
  );
});

describe.each(templateNames)("the template %s in the repository", (name) => {
  it("is what Git tracks of its folder, and what it would track next", async () => {
    const git = await run(
      "git",
      ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", sources[name]],
      { cwd: repositoryRoot },
    );
    // From an archive there is no Git to ask.
    if (git.status !== 0) {
      return;
    }
    const tracked = git.stdout
      .split("\n")
      .filter(
        (path) =>
          path !== "" &&
          existsSync(join(repositoryRoot, path)) &&
          !/^sample-auth-app\/(?:docs|prometheus|test\/repository|prisma\/migrations|prisma\.config|Dockerfile|README|scripts\/(?!load))/.test(
            path,
          ),
      );
    const nginx = name === "api" ? ["nginx/certificate.sh", "nginx/site.conf.template"] : [];
    const expected = [...tracked.map((path) => path.slice(sources[name].length + 1)), ...nginx];
    expect([...repository().read(name).files.keys()].toSorted()).toEqual(expected.toSorted());
  });

  it("has the texts that the generator changes for a project", () => {
    const { files } = repository().read(name);
    expect([...files.keys()]).toEqual(expect.arrayContaining(["package.json", "tsconfig.json", "test/tsconfig.json"]));
  });

  it("creates a project without references to outside, and without placeholders", async () => {
    const ofTheWorkspace =
      /tsconfig\.base|\.\.\/node_modules|\.\.\/jest\.config|\.\.\/framework|-w sample-auth-app|\{\{[#^/]?\w+\}\}/;
    const files = await render(name);
    const references = files.map(({ path, contents }) => [path, ofTheWorkspace.exec(contents.toString("utf8"))?.[0]]);
    expect(references.filter(([, reference]) => reference !== undefined)).toEqual([]);
  });

  it("uses the requested name of the project in all places of the template's name", async () => {
    const files = await render(name, { name: "@acme/x" });
    const named = files.map(({ path, contents }) => [
      path,
      /Sample application|Belongings|sample-auth-app/.exec(contents.toString("utf8")),
    ]);
    expect(named.filter(([, match]) => match !== null)).toEqual([]);
    const read = (path: string) => files.find((file) => file.path === path)?.contents.toString("utf8") ?? "";
    expect(read("src/app.ts")).toMatch(/new App\(\{\s*title: "x"/);
    if (name === "auth") {
      const page = await render(name, { name: "@acme/x", extras: ["page"] });
      expect(page.find(({ path }) => path === "public/index.html")?.contents.toString()).toContain("<title>x</title>");
    }
  });

  it("runs its tests by jest, as the framework does its own", async () => {
    const files = await render(name);
    const read = (path: string) => files.find((file) => file.path === path)?.contents.toString("utf8") ?? "";
    expect(JSON.parse(read("package.json")).scripts.test).toMatch(
      / --disable-warning=ExperimentalWarning node_modules\/jest\/bin\/jest\.js$/,
    );
    expect(JSON.parse(read("package.json")).devDependencies).toHaveProperty("jest");
    expect(read("jest.config.js")).toContain("@swc/jest");
    const others = files.filter(({ path, contents }) => path.endsWith(".test.ts") && contents.includes('"node:test"'));
    expect(others.map(({ path }) => path)).toEqual([]);
  });

  it("contains the module of its application", async () => {
    const files = await render(name);
    const { tsgi, scripts } = JSON.parse(
      files.find(({ path }) => path === "package.json")?.contents.toString("utf8") ?? "",
    );
    expect(files.map(({ path }) => path)).toContain(tsgi.module);
    expect(scripts.dev).toMatch(/(?:^|&& )tsgi dev(?: --env-file-if-exists \.env)?$/);
  });

  it("is checked out with the line ends that its formatter requires", async () => {
    const files = await render(name);
    const attributes = files.find(({ path }) => path === ".gitattributes")?.contents.toString("utf8");
    expect(attributes).toMatch(/^\* text=auto eol=lf$/m);
  });

  it("has scripts that every shell can run: cmd.exe and Yarn's too", async () => {
    const files = await render(name, { database: name === "minimal" ? "none" : "sqlite", extras: ["jobs"] });
    const { scripts } = JSON.parse(
      files.find(({ path }) => path === "package.json")?.contents.toString("utf8") ?? "",
    ) as { scripts: Record<string, string> };
    const commands = Object.values(scripts).flatMap((script) => script.split(" && "));
    const programs = [...new Set(commands.map((command) => command.split(" ")[0]))];
    expect(["node", "npm", "oxfmt", "oxlint", "tsc", "tsgi"]).toEqual(expect.arrayContaining(programs));
    expect(commands.filter((command) => /[^\w\s./=-]/.test(command))).toEqual([]);
  });

  it("has every file that package.json and the Dockerfile mention, with any selection", async () => {
    for (const isWanted of [true, false]) {
      const files = await render(name, { docker: isWanted, loadTests: isWanted, ci: isWanted });
      const paths = files.map(({ path }) => path);
      const named = files
        .filter(({ path }) => path === "package.json")
        .flatMap(({ contents }) => contents.toString("utf8").match(/[\w-]+(?:\/[\w-]+)+\.[jt]s\b/g) ?? [])
        .filter((path) => !/^(?:dist|node_modules)\//.test(path));
      expect(named.filter((path) => !paths.includes(path))).toEqual([]);
      expect(paths.includes("Dockerfile")).toBe(isWanted);
      expect(paths.some((path) => path.startsWith(".github/"))).toBe(isWanted);
      expect(paths.some((path) => /^(?:load-tests\/run|scripts\/load)\.js$/.test(path))).toBe(isWanted);
    }
  });
});

describe("the template in the package", () => {
  it.each(templateNames)("is the one in the repository: %s", async (name) => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, "package.json"), JSON.stringify({ version: "1.2.3" }));
    packTemplates(repository(), folder.path);
    const source = repository().read(name);
    const packed = new PackedTemplates(folder.path).read(name);
    expect(plain(packed.files)).toEqual(plain(source.files));
    expect(plain(packed.overlay).toSorted(byPath)).toEqual(plain(source.overlay).toSorted(byPath));
    expect(plain(packed.database ?? new Map()).toSorted(byPath)).toEqual(plain(source.database).toSorted(byPath));
    expect(packed.workspace).toEqual(source.workspace);
    const packages = [...source.packages].map(([own, { version, dependencies }]) => [
      own,
      { specifier: `^${version}`, version, dependencies },
    ]);
    expect([...packed.packages]).toEqual(packages);
  });

  it("replaces the files of an earlier packing, and keeps programs executable", async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, "templates/auth/files"), { recursive: true });
    await writeFile(join(folder.path, "templates/auth/files/removed.ts"), "");
    const template: Template = {
      files: new Map([["run.sh", { contents: Buffer.from("#!/bin/sh\n"), isExecutable: true }]]),
      overlay: new Map([["_gitignore", { contents: Buffer.from("dist/\n"), isExecutable: false }]]),
      workspace: { devDependencies: {}, overrides: {}, compilerOptions: {} },
      packages: new Map(),
    };
    await writeFile(join(folder.path, "package.json"), JSON.stringify({ version: "1.2.3" }));
    packTemplates({ read: () => template }, folder.path);
    expect(plain(new PackedTemplates(folder.path).read("auth").files)).toEqual([
      { path: "run.sh", isExecutable: true, text: "#!/bin/sh\n" },
    ]);
  });

  it("is found without the sources", async () => {
    await using folder = await temporaryFolder();
    packTemplates(repository(), folder.path);
    await writeFile(join(folder.path, "package.json"), JSON.stringify({ version: "1.2.3" }));
    await chmod(join(folder.path, "package.json"), 0o444);
    const templates = findTemplates(folder.path);
    expect(templates.version).toBe("1.2.3");
    expect(templates.read("auth").packages.get("tsgi")?.specifier).toMatch(/^\^\d/);
  });
});
