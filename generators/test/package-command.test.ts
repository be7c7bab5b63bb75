import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, jest } from "@jest/globals";
import { createTsgi } from "./in-process.js";
import { linkPackages } from "./scaffolded.js";
import { repositoryRoot, run, temporaryFolder } from "./support.js";

jest.setTimeout(300_000);

/** A name of several words, in a scope. */
const NAME = "@acme/api-notices";

describe("create-tsgi package", () => {
  it("writes a package that is formatted, compiles, and passes its tests", async () => {
    await using folder = await temporaryFolder();
    const made = await createTsgi(["package", NAME], { cwd: folder.path });
    expect(made).toMatchObject({ status: 0, stderr: "", stdout: expect.stringContaining("cd api-notices") });
    const project = join(folder.path, "api-notices");
    await linkPackages(project);
    const type = (line: string) => run("sh", ["-c", line], { cwd: project, env: { NODE_OPTIONS: undefined } });
    const { scripts, peerDependencies, devDependencies, keywords } = JSON.parse(
      readFileSync(join(project, "package.json"), "utf8"),
    );
    const tested = await type(`PATH=node_modules/.bin:$PATH; ${scripts.test}`);
    expect({ ...tested, failed: /^not ok.*$/m.exec(tested.stdout)?.[0] }).toMatchObject({ status: 0, stderr: "" });
    expect(tested.stdout).toMatch(/^# pass 2$|^ℹ pass 2$/m);
    const config = join(repositoryRoot, ".oxfmtrc.json");
    expect(await type(`node_modules/.bin/oxfmt -c ${config} --check src test README.md tsconfig.json`)).toMatchObject({
      status: 0,
    });
    expect(existsSync(join(project, "dist/index.d.ts"))).toBe(true);
    const version = "0.1.0";
    expect({ keywords, peerDependencies }).toEqual({ keywords: ["tsgi"], peerDependencies: { tsgi: `^${version}` } });
    expect(devDependencies).toMatchObject({ tsgi: `file:vendor/tsgi-${version}.tgz` });
    expect(existsSync(join(project, `vendor/tsgi-client-${version}.tgz`))).toBe(true);
  });

  it("lists its files in a dry run, and rejects a folder with files and names that cannot be one", async () => {
    await using folder = await temporaryFolder();
    const call = (...parameters: string[]) => createTsgi(["package", ...parameters], { cwd: folder.path });
    const { stdout } = await call("notices", "--dry-run", "--json");
    const { dryRun, files } = JSON.parse(stdout) as { dryRun: boolean; files: { path: string }[] };
    expect([dryRun, files.map(({ path }) => path).filter((path) => !path.startsWith("vendor/"))]).toEqual([
      true,
      [
        ".gitignore",
        "package.json",
        "README.md",
        "src/index.ts",
        "test/index.test.ts",
        "test/tsconfig.json",
        "tsconfig.json",
      ],
    ]);
    expect(existsSync(join(folder.path, "notices"))).toBe(false);
    await call("notices");
    for (const [words, status, message] of [
      [["notices"], 1, "is not empty"],
      [["Notices"], 2, "capital letters"],
      [["class"], 2, "is a reserved word"],
      [[], 2, "<name> is missing"],
      [["a", "b"], 2, 'unexpected argument "b"'],
    ] as const) {
      expect(await call(...words)).toMatchObject({ status, stderr: expect.stringContaining(message) });
    }
    expect(await call("--help")).toMatchObject({ status: 0, stdout: expect.stringContaining("package <name>") });
  });
});
