import { existsSync, readdirSync, statSync } from "node:fs";
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createTsgi } from "./in-process.js";
import { packedPackage } from "./packed.js";
import { repositoryRoot, run, temporaryFolder } from "./support.js";

/** All files below a folder, with their contents. */
async function contentsOf(folder: string): Promise<Map<string, string>> {
  const entries = readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
  const files = entries.filter((path) => statSync(join(folder, path)).isFile());
  const texts = await Promise.all(files.map((path) => readFile(join(folder, path), "utf8")));
  return new Map(files.map((path, index) => [path, texts[index] ?? ""]));
}

describe("the package as npm packs it", () => {
  let folder: Awaited<ReturnType<typeof packedPackage>>;
  let unpacked: string;

  beforeAll(async () => {
    folder = await packedPackage();
    unpacked = folder.package;
  });

  afterAll(async () => {
    await folder[Symbol.asyncDispose]();
  });

  it("needs no other package and weighs less than 3 MB", async () => {
    const manifest = JSON.parse(await readFile(join(unpacked, "package.json"), "utf8"));
    expect(manifest).not.toHaveProperty("dependencies");
    const files = await contentsOf(unpacked);
    const size = [...files.keys()].reduce((sum, path) => sum + statSync(join(unpacked, path)).size, 0);
    expect(size).toBeLessThan(3_000_000);
  });

  it("holds neither sources nor anything made on this machine", async () => {
    const files = await contentsOf(unpacked);
    expect([...files.keys()].filter((path) => /^(?:src|test|scripts|dist\/(?!bundle))|\.map$/.test(path))).toEqual([]);
    expect([...files].filter(([, text]) => text.includes(repositoryRoot)).map(([path]) => path)).toEqual([]);
  });

  it("holds the licence of each package in the bundle", async () => {
    const licences = await readFile(join(unpacked, "dist/bundle/LICENSES.txt"), "utf8");
    for (const name of ["yeoman-environment", "yeoman-generator", "inquirer", "mem-fs", "ejs"]) {
      expect(licences).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(`, "m"));
    }
  });

  it("writes the project that the repository writes, with what that packs from the registry", async () => {
    await using projects = await temporaryFolder();
    const flags = ["--yes", "--no-install", "--no-git"];
    const [own, theirs] = await Promise.all([
      run(process.execPath, [join(unpacked, "bin/create-tsgi.js"), "my-app", "--into", "own", ...flags], {
        cwd: projects.path,
      }),
      createTsgi(["my-app", "--into", "theirs", ...flags], { cwd: projects.path }),
    ]);
    expect([own.status, theirs.status]).toEqual([0, 0]);

    const fromPackage = await contentsOf(join(projects.path, "own/my-app"));
    const fromRepository = await contentsOf(join(projects.path, "theirs/my-app"));
    const vendored = [...fromRepository.keys()].filter((path) => path.startsWith("vendor/"));
    const versionOf = async (workspace: string) =>
      String(JSON.parse(await readFile(join(repositoryRoot, workspace, "package.json"), "utf8")).version);
    const [framework, generator] = [await versionOf("framework/core"), await versionOf("generators")];
    const manifest = JSON.parse(fromRepository.get("package.json") ?? "");
    const carried = Object.values({ ...manifest.dependencies, ...manifest.devDependencies, ...manifest.overrides });
    expect(vendored).toEqual(
      carried.flatMap((specifier) => /^file:(.*)/.exec(String(specifier))?.[1] ?? []).toSorted(),
    );
    expect(vendored).toEqual(
      expect.arrayContaining([`vendor/create-tsgi-${generator}.tgz`, `vendor/tsgi-docs-ui-${framework}.tgz`]),
    );
    for (const path of [".env", ...vendored]) {
      fromPackage.delete(path);
      fromRepository.delete(path);
    }
    expect(manifest.devDependencies["create-tsgi"]).toBe(`file:vendor/create-tsgi-${generator}.tgz`);
    delete manifest.devDependencies["create-tsgi"];
    for (const some of [manifest.dependencies, manifest.devDependencies]) {
      for (const name of Object.keys(some).filter((one) => /^(?:@tsgi\/|tsgi$)/.test(one))) {
        some[name] = `^${framework}`;
      }
    }
    for (const name of Object.keys(manifest.overrides).filter((one) => one.startsWith("@tsgi/"))) {
      delete manifest.overrides[name];
    }
    fromRepository.set("package.json", `${JSON.stringify(manifest, null, 2)}\n`);
    // Packages of the repository are never looked for in a registry.
    const readme = fromRepository.get("README.md") ?? "";
    expect(readme).toContain("npx --no -- create-tsgi");
    for (const name of ["README.md", "AGENTS.md"]) {
      const text = fromRepository.get(name) ?? "";
      fromRepository.set(name, text.replaceAll("npx --no -- create-tsgi", "npx create-tsgi"));
    }
    expect(Object.fromEntries(fromPackage)).toEqual(Object.fromEntries(fromRepository));
    expect(existsSync(join(projects.path, "own/my-app/.env"))).toBe(true);
  });

  it("writes a project with bundled packages if its own packages are bundled", async () => {
    await using projects = await temporaryFolder();
    const made = await createTsgi(["one", "--template", "minimal", "--yes", "--no-install", "--no-git"], {
      cwd: projects.path,
    });
    expect(made.status).toBe(0);
    const outer = join(projects.path, "one");
    const carried = join(outer, "node_modules/create-tsgi");
    await cp(unpacked, carried, { recursive: true });
    const flags = ["--yes", "--no-install", "--no-git"];
    const { status } = await createTsgi(["two", "--template", "minimal", ...flags], { cwd: outer }, carried);
    expect(status).toBe(0);
    const manifest = JSON.parse(await readFile(join(outer, "two/package.json"), "utf8"));
    expect(manifest.dependencies.tsgi).toMatch(/^file:vendor\/tsgi-.*\.tgz$/);
    expect(manifest.devDependencies["create-tsgi"]).toMatch(/^file:vendor\/create-tsgi-.*\.tgz$/);
    const tarballs = readdirSync(join(outer, "two/vendor"));
    expect(tarballs).toEqual(readdirSync(join(outer, "vendor")));
    for (const name of tarballs) {
      expect(await readFile(join(outer, "two/vendor", name))).toEqual(await readFile(join(outer, "vendor", name)));
    }
    const refused = await createTsgi(["three", ...flags], { cwd: outer }, carried);
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringMatching(/uses @tsgi\/\w+, which vendor\/ does/) });
    expect(existsSync(join(outer, "three"))).toBe(false);
  });
});
