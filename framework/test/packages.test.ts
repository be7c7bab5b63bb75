import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, "../..");
const PAGE = readFileSync(path.join(ROOT, "framework/docs/packages.md"), "utf8");

/** The block of the page that is a file of this name. */
const file = (name: string) =>
  new RegExp(`^\`\`\`.*\\[${name.replaceAll(".", "\\.")}\\]\\n([^]*?)^\`\`\`$`, "m").exec(PAGE)?.[1] ?? "";

/** Links the framework and some of its packages into a project. */
function linkPackages(project: string, folders: readonly string[]): void {
  const modules = path.join(project, "node_modules");
  mkdirSync(path.join(modules, "@tsgi"), { recursive: true });
  symlinkSync(path.join(ROOT, "framework/core"), path.join(modules, "tsgi"));
  symlinkSync(path.join(ROOT, "node_modules/@types"), path.join(modules, "@types"));
  for (const name of folders) symlinkSync(path.join(ROOT, "framework", name), path.join(modules, "@tsgi", name));
}

/** The output of the compiler in a project. */
async function compile(project: string): Promise<string> {
  const tsc = path.join(ROOT, "node_modules/typescript/bin/tsc");
  const { stdout } = await run(process.execPath, [tsc, "-p", "."], { cwd: project }).catch(
    (error: { stdout: string }) => error,
  );
  return stdout;
}

describe("the package of the page on packages", () => {
  let folder: string;
  let project: string;
  let output: string;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "tsgi-package-"));
    const source = path.join(folder, "announcements");
    project = path.join(folder, "project");
    mkdirSync(source);
    mkdirSync(project);
    const compilerOptions = { strict: true, module: "nodenext", target: "es2022", types: ["node"], outDir: "dist" };
    const options = { ...compilerOptions, lib: ["es2023", "esnext.disposable"], skipLibCheck: true };
    for (const name of ["package.json", "index.ts"]) writeFileSync(path.join(source, name), file(name));
    const declared = { compilerOptions: { ...options, declaration: true }, files: ["index.ts"] };
    writeFileSync(path.join(source, "tsconfig.json"), JSON.stringify(declared));
    linkPackages(source, []);
    output = await compile(source);
    await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: source });
    writeFileSync(path.join(project, "package.json"), '{ "type": "module", "private": true }');
    // The framework itself is linked, so that no registry is queried.
    const tarball = path.join(folder, "announcements-1.0.0.tgz");
    await run("npm", ["install", "--offline", "--no-audit", "--legacy-peer-deps", tarball], { cwd: project });
    linkPackages(project, ["client"]);
    for (const name of ["app.ts", "app.test.ts"]) writeFileSync(path.join(project, name), file(name));
    const tsconfig = { compilerOptions: options, files: ["app.ts", "app.test.ts"] };
    writeFileSync(path.join(project, "tsconfig.json"), JSON.stringify(tsconfig));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("is installed from its tarball, compiles under strict, is included, overridden and tested", async () => {
    expect([output, await compile(project)]).toEqual(["", ""]);
    const { stdout } = await run(process.execPath, ["--test", "dist/app.test.js"], { cwd: project }).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toMatch(/^(?:#|ℹ) pass 3$/m);
  });
});
