import { existsSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { PackedTemplates, packTemplates } from "../src/packed-templates.js";
import { renderProject } from "../src/project.js";
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

const plain = (files: Template["files"]) =>
  [...files].map(([path, { contents, isExecutable }]) => ({ path, isExecutable, text: contents.toString("utf8") }));

describe("the template in the repository", () => {
  it("is what Git tracks of the sample application, and what it would track next", async () => {
    const git = await run(
      "git",
      ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "sample-auth-app"],
      { cwd: repositoryRoot },
    );
    // From an archive there is no Git to ask.
    if (git.status !== 0) {
      return;
    }
    const tracked = git.stdout.split("\n").filter((path) => path !== "" && existsSync(join(repositoryRoot, path)));
    const expected = tracked.map((path) => path.slice("sample-auth-app/".length));
    expect([...repository().read("auth").files.keys()].toSorted()).toEqual(expected.toSorted());
  });

  it("has what the generator changes for a project", () => {
    const { files, overlay } = repository().read("auth");
    expect([...files.keys()]).toEqual(expect.arrayContaining(["package.json", "tsconfig.json", "test/tsconfig.json"]));
    expect([...overlay.keys(), ...files.keys()].filter((path) => path.endsWith("env.example"))).toHaveLength(1);
  });

  it("gives a project that names nothing outside of itself", async () => {
    const { specifier } = repository().read("auth").framework;
    const template = { ...repository().read("auth"), framework: { specifier } };
    const files = await renderProject(template, { name: "my-app", generatorVersion: "0.0.0", templateName: "auth" });
    const ofTheWorkspace = /tsconfig\.base|\.\.\/node_modules|\.\.\/jest\.config|\.\.\/framework|-w sample-auth-app/;
    const references = files.map(({ path, contents }) => [path, ofTheWorkspace.exec(contents.toString("utf8"))?.[0]]);
    expect(references.filter(([, reference]) => reference !== undefined)).toEqual([]);
  });
});

describe("the template in the package", () => {
  it("is the one in the repository", async () => {
    await using folder = await temporaryFolder();
    packTemplates(repository(), folder.path, "1.2.3");
    const source = repository().read("auth");
    const packed = new PackedTemplates(folder.path).read("auth");
    expect(plain(packed.files)).toEqual(plain(source.files));
    expect(plain(packed.overlay)).toEqual(plain(source.overlay));
    expect(packed.workspace).toEqual(source.workspace);
    expect(packed.framework).toEqual({ specifier: "^1.2.3" });
  });

  it("replaces what an earlier packing left, and keeps programs executable", async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, "templates/auth/files"), { recursive: true });
    await writeFile(join(folder.path, "templates/auth/files/removed.ts"), "");
    const template: Template = {
      files: new Map([["run.sh", { contents: Buffer.from("#!/bin/sh\n"), isExecutable: true }]]),
      overlay: new Map([["_gitignore", { contents: Buffer.from("dist/\n"), isExecutable: false }]]),
      workspace: { devDependencies: {}, overrides: {}, compilerOptions: {} },
      framework: { specifier: "file:x" },
    };
    packTemplates({ read: () => template }, folder.path, "1.2.3");
    expect(plain(new PackedTemplates(folder.path).read("auth").files)).toEqual([
      { path: "run.sh", isExecutable: true, text: "#!/bin/sh\n" },
    ]);
  });

  it("is found where the sources are not", async () => {
    await using folder = await temporaryFolder();
    packTemplates(repository(), folder.path, "1.2.3");
    await writeFile(join(folder.path, "package.json"), JSON.stringify({ version: "1.2.3" }));
    await chmod(join(folder.path, "package.json"), 0o444);
    const templates = findTemplates(folder.path);
    expect(templates.version).toBe("1.2.3");
    expect(templates.read("auth").framework.specifier).toBe("^1.2.3");
  });
});
