import { existsSync } from "node:fs";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createTsgi } from "./in-process.js";
import { packedPackage } from "./packed.js";
import { hasProgram, run, temporaryFolder } from "./support.js";

/** Skipped where Git is missing. */
const ifInstalled = hasProgram("git") ? it : it.skip;

let packed: Awaited<ReturnType<typeof packedPackage>>;
/** The package as it is, and one of an earlier version, whose template was another. */
let [today, earlier] = ["", ""];

const call = (packageFolder: string, cwd: string, ...parameters: string[]) =>
  createTsgi(parameters, { cwd }, packageFolder);

async function replaceIn(path: string, ...pairs: [from: string, to: string][]): Promise<void> {
  let text = await readFile(path, "utf8");
  for (const [from, to] of pairs) {
    expect(text).toContain(from);
    text = text.replace(from, to);
  }
  await writeFile(path, text);
}

beforeAll(async () => {
  packed = await packedPackage();
  [today, earlier] = [packed.package, join(packed.path, "earlier")];
  await cp(today, earlier, { recursive: true });
  const version = String(JSON.parse(await readFile(join(today, "package.json"), "utf8")).version);
  await replaceIn(join(earlier, "package.json"), [`"version": "${version}"`, '"version": "0.0.1"']);
  const template = join(earlier, "templates/minimal");
  // Changes of the template since then: a title, a script, a new file, and a removed one.
  await replaceIn(join(template, "files/src/app.ts"), ['title: "Items"', 'title: "Old items"']);
  await replaceIn(join(template, "files/package.json"), ['"load": "node load-tests/run.js"', '"load": "old"']);
  await replaceIn(join(template, "overlay/_gitignore"), ["coverage/\n", ""]);
  await rm(join(template, "overlay/compose.yaml"));
  await writeFile(join(template, "overlay/once.txt"), "of the past\n");
});

afterAll(async () => {
  await packed[Symbol.asyncDispose]();
});

/** A project of the earlier version. */
async function earlierProject() {
  const folder = await temporaryFolder();
  const flags = ["--template", "minimal", "--no-ci", "--yes", "--no-install", "--no-git"];
  expect(await call(earlier, folder.path, "my-app", ...flags)).toMatchObject({ status: 0 });
  const path = join(folder.path, "my-app");
  return {
    path,
    file: (name: string) => join(path, name),
    read: (name: string) => readFile(join(path, name), "utf8"),
    upgrade: (...parameters: string[]) => call(today, path, "upgrade", "--from", earlier, ...parameters),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

describe("create-tsgi upgrade", () => {
  it("shows the changes in a dry run, and writes no files", async () => {
    await using project = await earlierProject();
    const words = [join(today, "bin/create-tsgi.js"), "upgrade", "--from", earlier, "--dry-run"];
    const { status, stdout } = await run(process.execPath, words, { cwd: project.path });
    expect(status).toBe(0);
    expect(stdout).toMatch(/^From create-tsgi 0\.0\.1 to \d+\.\d+\.\d+ \(dry run, no files are written\):\n/);
    expect(stdout.match(/^ {2}\w+ +\S+$/gm)?.map((line) => line.trim().split(/ +/))).toEqual([
      ["overwrite", ".gitignore"],
      ["create", "compose.yaml"],
      ["obsolete", "once.txt"],
      ["overwrite", "package.json"],
      ["overwrite", "src/app.ts"],
    ]);
    expect(existsSync(project.file("compose.yaml"))).toBe(false);
    expect(await project.read("src/app.ts")).toContain("Old items");
  });

  it("applies the changes of the template, and keeps the changes of the user", async () => {
    await using project = await earlierProject();
    await replaceIn(project.file("src/app.ts"), ["App, t }", "App, Router, t }"]);
    await replaceIn(project.file("package.json"), ['"build": "tsc -b"', '"build": "tsc -b",\n    "mine": "echo"']);
    await rm(project.file(".gitignore"));
    const { status, stdout } = await project.upgrade("--force", "--json");
    expect(status).toBe(0);
    const { files } = JSON.parse(stdout) as { files: { path: string; action: string }[] };
    expect(Object.fromEntries(files.map(({ path, action }) => [path, action]))).toEqual({
      ".gitignore": "removed",
      "compose.yaml": "create",
      "once.txt": "obsolete",
      "package.json": "merge",
      "src/app.ts": "merge",
    });
    const app = await project.read("src/app.ts");
    expect(app).toContain("App, Router, t }");
    expect(app).toContain('title: "my-app"');
    const manifest = JSON.parse(await project.read("package.json"));
    expect(manifest.scripts).toMatchObject({ mine: "echo", load: "node load-tests/run.js" });
    expect(manifest["create-tsgi"]).toMatchObject({ template: "minimal", ci: false });
    expect(manifest["create-tsgi"].version).not.toBe("0.0.1");
    expect(existsSync(project.file("once.txt"))).toBe(true);
    expect(existsSync(project.file(".gitignore"))).toBe(false);
    expect(existsSync(project.file(".github"))).toBe(false);

    expect(await call(today, project.path, "upgrade")).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^This project already has the templates of create-tsgi \S+\.\n$/),
    });
  });

  it("keeps both sides in a file that both have changed, and exits with status 1", async () => {
    await using project = await earlierProject();
    await replaceIn(project.file("src/app.ts"), ["Old items", "My items"]);
    await replaceIn(project.file("package.json"), ['"load": "old"', '"load": "mine"']);
    const { status, stdout } = await project.upgrade("--force");
    expect(status).toBe(1);
    expect(stdout).toContain('scripts.load: yours "mine", the template\'s "node load-tests/run.js"');
    expect(await project.read("src/app.ts")).toMatch(
      /<<<<<<< yours\n.*My items.*\n=======\n.*"my-app".*\n>>>>>>> create-tsgi \d/,
    );
    expect(JSON.parse(await project.read("package.json")).scripts.load).toBe("mine");
  });

  ifInstalled("requires committed changes", async () => {
    await using project = await earlierProject();
    const git = (...parameters: string[]) =>
      run("git", ["-c", "user.name=x", "-c", "user.email=x@example.com", ...parameters], { cwd: project.path });
    expect(await project.upgrade()).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("not in a Git repository"),
    });
    await git("init", "--quiet");
    await git("add", "--all");
    expect(await project.upgrade()).toMatchObject({ status: 1, stderr: expect.stringContaining("not committed") });
    await git("commit", "--quiet", "--message", "mine");
    expect(await project.upgrade()).toMatchObject({ status: 0 });
  });

  it.each([
    [2, ["upgrade", "now"], "unexpected argument"],
    [2, ["upgrade", "--yes"], "unknown flag"],
    [1, ["upgrade", "--force", "--from", "/nowhere/create-tsgi"], "/nowhere/create-tsgi, which created this project"],
  ])("ends with %d and leaves the project as it is: %j", async (status, parameters, message) => {
    await using project = await earlierProject();
    const before = await project.read("src/app.ts");
    const result = await call(today, project.path, ...parameters);
    expect(result).toMatchObject({ status, stderr: expect.stringContaining(message) });
    expect(await project.read("src/app.ts")).toBe(before);
  });

  it("reports a project without its version", async () => {
    await using project = await earlierProject();
    for (const kept of [
      undefined,
      { version: "0.0.1", template: "__proto__" },
      { version: "1; rm", template: "api" },
    ]) {
      const manifest = JSON.parse(await project.read("package.json"));
      await writeFile(project.file("package.json"), JSON.stringify({ ...manifest, "create-tsgi": kept }));
      const { status, stderr } = await project.upgrade("--dry-run");
      expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining("has no version") });
    }
  });

  it("queries no registry in a project that contains its generator", async () => {
    await using folder = await temporaryFolder();
    const flags = ["--template", "minimal", "--yes", "--no-install", "--no-git"];
    expect(await createTsgi(["my-app", ...flags], { cwd: folder.path })).toMatchObject({ status: 0 });
    const path = join(folder.path, "my-app");
    await replaceIn(join(path, "package.json"), [
      '"create-tsgi": {\n    "version": "',
      '"create-tsgi": {\n    "version": "9',
    ]);
    await cp(today, join(path, "node_modules/create-tsgi"), { recursive: true });
    const { status, stderr } = await call(join(path, "node_modules/create-tsgi"), path, "upgrade", "--dry-run");
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining("it cannot download version 9"),
    });
  });

  it("rejects a project of the layout before --with in one sentence, and changes no files", async () => {
    for (const change of ["jobs", "migrations"] as const) {
      await using project = await earlierProject();
      if (change === "migrations") await mkdir(project.file("prisma/migrations/sqlite"), { recursive: true });
      else
        await replaceIn(project.file("package.json"), ['"template": "minimal"', '"template": "minimal", "jobs": true']);
      const before = await project.read("package.json");
      expect(await project.upgrade("--force")).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/^create-tsgi: this project is from before create-tsgi had --with, .+\n$/),
      });
      expect(await project.read("package.json")).toBe(before);
    }
  });
});
