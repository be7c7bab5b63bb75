import { existsSync } from "node:fs";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { argumentsOf } from "../src/yeoman-options.js";
import { packageRoot, repositoryRoot, run, temporaryFolder } from "./support.js";

describe("arguments that Yeoman has parsed", () => {
  it.each([
    [["my-app"], {}, ["my-app"]],
    [[], { template: "api", git: false, install: true }, ["--template=api", "--install", "--no-git"]],
    [
      [],
      { loadTests: false, "load-tests": false, "package-manager": "pnpm" },
      ["--no-load-tests", "--package-manager=pnpm"],
    ],
    [[], { yes: true, dryRun: true, env: {}, namespace: "tsgi:app", skipInstall: false }, ["--dry-run", "--yes"]],
    [["../X"], { template: "__proto__" }, ["--template=__proto__", "../X"]],
  ])("%j and %j are the command line again", (words, options, expected) => {
    expect(argumentsOf(words, options)).toEqual(expected);
  });
});

/** Does the same as `yo tsgi my-app …`: looks for generators by their names, and runs the requested one. */
const yo = `
import { createEnv } from ${JSON.stringify(join(repositoryRoot, "node_modules/yeoman-environment/dist/index.js"))};

const environment = createEnv({ cwd: process.cwd(), skipInstall: true });
await environment.lookup({ packagePaths: ["node_modules/generator-tsgi"], localOnly: true });
await environment.run(["tsgi", "my-app"], { template: "minimal", git: false, install: false });
`;

describe("yo tsgi", () => {
  it("finds the generator by its package, and writes the project", async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, "node_modules"));
    await symlink(join(packageRoot, "yo"), join(folder.path, "node_modules/generator-tsgi"));
    await writeFile(join(folder.path, "yo.mjs"), yo);
    const { status, stderr } = await run(process.execPath, ["yo.mjs"], { cwd: folder.path });
    expect({ status, stderr: status === 0 ? "" : stderr }).toEqual({ status: 0, stderr: "" });
    expect(existsSync(join(folder.path, "my-app/src/app.ts"))).toBe(true);
    const manifest = JSON.parse(await readFile(join(folder.path, "my-app/package.json"), "utf8"));
    expect(manifest["create-tsgi"]).toMatchObject({ template: "minimal" });
    // As from the command line: the folder is occupied now.
    const again = await run(process.execPath, ["yo.mjs"], { cwd: folder.path });
    expect(again).toMatchObject({ status: 1, stderr: expect.stringMatching(/^create-tsgi: .*--force/m) });
  });

  it("is of the same version as the package that it calls", async () => {
    const read = async (path: string) => JSON.parse(await readFile(join(packageRoot, path), "utf8"));
    const { version } = await read("package.json");
    expect(await read("yo/package.json")).toMatchObject({ version, dependencies: { "create-tsgi": version } });
  });
});
