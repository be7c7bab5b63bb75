import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { describe, expect, it } from "@jest/globals";

import { installOnDemand, IS_SLOW } from "./support/on-demand.js";

const run = promisify(execFile);

const FRAMEWORK = path.resolve(import.meta.dirname, "..");
const CHECKERS = ["@arethetypeswrong/cli@0.18.5", "publint@0.3.25"];

interface Manifest {
  readonly version: string;
  readonly exports: Readonly<Record<string, string | { types: string; default: string }>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly sideEffects: readonly string[];
}

/** The paths of what npm packs of the built package. */
async function packedFiles(): Promise<string[]> {
  const { stdout } = await run("npm", ["pack", "--dry-run", "--ignore-scripts", "--json"], { cwd: FRAMEWORK });
  const [packed] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  return packed.files.map((file) => file.path);
}

const readManifest = async () => JSON.parse(await readFile(path.join(FRAMEWORK, "package.json"), "utf8")) as Manifest;

describe("the package as npm packs it", () => {
  it("holds what its manifest names, its documentation and its licence", async () => {
    const files = new Set(await packedFiles());
    const { exports, bin, sideEffects } = await readManifest();
    const named = Object.values(exports).flatMap((entry) => (typeof entry === "string" ? entry : Object.values(entry)));
    for (const name of [...named, ...Object.values(bin), ...sideEffects]) expect(files).toContain(path.normalize(name));
    for (const name of ["LICENSE", "README.md", "docs/README.md", "docs/specification.md"])
      expect(files).toContain(name);
    expect(await readFile(path.join(FRAMEWORK, "LICENSE"), "utf8")).toBe(
      await readFile(path.join(FRAMEWORK, "../LICENSE"), "utf8"),
    );
  });

  it("has commands that can be run as they are, from a clone on", async () => {
    const { bin, version } = await readManifest();
    for (const name of Object.values(bin)) {
      expect(await run(path.join(FRAMEWORK, name), ["--version"])).toMatchObject({
        stdout: `${version}\n`,
        stderr: "",
      });
    }
  });

  it("has a command that says in a clone what to run before", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "tsgi-clone-"));
    try {
      await cp(path.join(FRAMEWORK, "bin"), path.join(folder, "framework/bin"), { recursive: true });
      await writeFile(path.join(folder, "framework/package.json"), '{ "type": "module" }');
      await expect(run(path.join(folder, "framework/bin/tsgi.js"))).rejects.toMatchObject({
        code: 1,
        stderr: `tsgi is not built yet. Run: npm --prefix ${folder}/ run build\n`,
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("holds the sources that its maps lead to, no tests and nothing that a build leaves for itself", async () => {
    const isOwn = (name: string) =>
      /^src\/.*\.ts$/.test(name) ||
      /^dist\/.*(\.js|\.d\.ts|\.map|\.css|\.svg|\.png|\.html|LICENSE.*|NOTICE.*|\.txt)$/.test(name) ||
      /^docs\/(?:cookbook\/)?[\w-]+\.md$/.test(name) ||
      name === "bin/tsgi.js";
    const others = (await packedFiles()).filter((name) => !isOwn(name));
    expect(others.toSorted()).toEqual([
      "LICENSE",
      "README.md",
      "dist/assets/@scalar/api-reference/package.json",
      "dist/assets/redoc/package.json",
      "dist/assets/swagger-ui-dist/package.json",
      "package.json",
    ]);
  });

  it("does nothing on import, but for what it says", async () => {
    const { exports, sideEffects } = await readManifest();
    const quiet = Object.values(exports).flatMap((entry) => (typeof entry === "string" ? [] : entry.default));
    const urls = quiet.filter((name) => !sideEffects.includes(name)).map((name) => path.join(FRAMEWORK, name));
    // Node closes the files of modules on its own time, and opens its standard streams on theirs.
    const script = `
      const look = () => JSON.stringify([
        Object.getOwnPropertyNames(globalThis),
        process.getActiveResourcesInfo().filter((name) => !["CloseReq", "PipeWrap"].includes(name)),
      ]);
      const before = look();
      for (const url of ${JSON.stringify(urls)}) await import(url);
      console.log(look() === before ? "nothing" : look());
    `;
    const { stdout, stderr } = await run(process.execPath, ["--input-type=module", "--eval", script]);
    expect([stdout.trim(), stderr]).toEqual(["nothing", ""]);
  });
});

const slowly = IS_SLOW ? describe : describe.skip;

slowly("the package in a user's project", () => {
  it("has types and entry points that resolve under node16, nodenext and bundler", async () => {
    const home = installOnDemand("package-checks", CHECKERS);
    const folder = await mkdtemp(path.join(tmpdir(), "tsgi-pack-"));
    try {
      await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: FRAMEWORK });
      const tarball = path.join(folder, `tsgi-${(await readManifest()).version}.tgz`);
      const command = (file: string) => path.join(home, "node_modules", file);
      // The package has no CommonJS of its own: Node from 20.19 on loads its modules by `require` as they are.
      const types = [command("@arethetypeswrong/cli/dist/index.js"), tarball, "--profile", "esm-only"];
      await expect(run(process.execPath, types)).resolves.toBeDefined();
      const lint = [command("publint/src/cli.js"), "run", tarball, "--strict"];
      await expect(run(process.execPath, lint)).resolves.toBeDefined();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }, 240_000);
});
