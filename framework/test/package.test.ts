/** The packages as npm packs them. `make pack` goes further: it installs them into empty folders. */
import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { build as esbuild } from "esbuild";
import { FRAMEWORK, manifestOf, PACKAGES } from "./support/packages.js";

const run = promisify(execFile);

interface Packed {
  readonly name: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

/** All built packages by name, as npm packs them, without writing the tarballs. */
let packed: ReadonlyMap<string, Packed>;

beforeAll(async () => {
  const args = ["pack", "--dry-run", "--ignore-scripts", "--json", ...PACKAGES.map((folder) => `./${folder}`)];
  const { stdout } = await run("npm", args, { cwd: FRAMEWORK, maxBuffer: 64 << 20 });
  packed = new Map((JSON.parse(stdout) as Packed[]).map((one) => [one.name, one]));
});

/** The additions of each package to the process. The packages are imported sequentially. */
let added: Readonly<Record<string, string>>;

beforeAll(async () => {
  const quiet = PACKAGES.map((folder) => {
    const { exports, sideEffects } = manifestOf(folder);
    const files = Object.values(exports).flatMap((entry) =>
      typeof entry === "string" ? [] : [entry.default, entry.module ?? [], entry.browser ?? []].flat(),
    );
    const isQuiet = (name: string) => !(sideEffects || []).includes(name);
    return [folder, files.filter(isQuiet).map((name) => path.join(FRAMEWORK, folder, name))];
  });
  // Node closes the files of modules on its own time, and opens its standard streams on theirs.
  const script = `
    const look = () => JSON.stringify([
      // zod, which the SDK of @tsgi/mcp loads, keeps its registry there.
      Object.getOwnPropertyNames(globalThis).filter((name) => !name.startsWith("__zod_")),
      process.getActiveResourcesInfo().filter((name) => !["CloseReq", "PipeWrap"].includes(name)),
    ]);
    const added = {};
    for (const [folder, files] of ${JSON.stringify(quiet)}) {
      const before = look();
      for (const file of files) await import(file);
      added[folder] = look() === before ? "nothing" : look();
    }
    console.log(JSON.stringify(added));
  `;
  const { stdout, stderr } = await run(process.execPath, ["--input-type=module", "--eval", script]);
  if (stderr !== "") throw new Error(stderr);
  added = JSON.parse(stdout) as Record<string, string>;
});

function packageOf(folder: string): Packed {
  const one = packed.get(manifestOf(folder).name);
  if (one === undefined) throw new Error(`npm has not packed framework/${folder}.`);
  return one;
}

const pathsOf = ({ files }: Packed) => files.map((file) => file.path);

describe.each(PACKAGES)("the package of framework/%s", (folder) => {
  const home = path.join(FRAMEWORK, folder);
  const manifest = manifestOf(folder);

  it("contains the files of its manifest, a README and the license", async () => {
    const { exports, bin = {} } = manifest;
    const named = Object.values(exports).flatMap((entry) => (typeof entry === "string" ? entry : Object.values(entry)));
    const files = pathsOf(packageOf(folder));
    for (const name of [...named, ...Object.values(bin), "LICENSE", "README.md"]) {
      expect(files).toContain(path.normalize(name));
    }
    const licence = await readFile(path.join(home, "LICENSE"), "utf8");
    expect(licence).toBe(await readFile(path.join(FRAMEWORK, "../LICENSE"), "utf8"));
  });

  it("contains no sources, tests or temporary build files", async () => {
    const isOwn = (name: string) =>
      /^(?:dist|assets)\/.*(?:\.c?js|\.d\.ts|\.js\.map|\.css|\.svg|\.png|\.html|LICENSE.*|NOTICE.*|\.txt)$/.test(
        name,
      ) ||
      name === "bin/tsgi.js" ||
      ["LICENSE", "README.md", "package.json"].includes(name) ||
      (folder === "cli" && name === "assets/errors.md") ||
      (folder === "core" && ["AGENTS.md", "skills/tsgi/SKILL.md"].includes(name)) ||
      (folder === "docs-ui" && /^dist\/[\w@/-]+\/package\.json$/.test(name));
    expect(pathsOf(packageOf(folder)).filter((name) => !isOwn(name))).toEqual([]);
  });

  it("has only the declared side effects on import", () => {
    expect(added[folder]).toBe("nothing");
  });

  it("can be part of a CommonJS bundle, which cannot wait at its top level", async () => {
    const entryPoints = Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === "string" ? [] : path.join(home, entry.module ?? entry.default),
    );
    const settings = { bundle: true, platform: "node", format: "cjs", write: false, logLevel: "silent" } as const;
    const { errors } = await esbuild({ ...settings, entryPoints, outdir: "out" });
    expect(errors).toEqual([]);
  });

  it("has the version of all others, and requires exactly that version of its dependencies", () => {
    const { version } = manifestOf("core");
    const needed = Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies });
    expect(manifest.version).toBe(version);
    for (const [name, range] of needed) {
      if (name === "tsgi" || name.startsWith("@tsgi/")) expect([name, range]).toEqual([name, version]);
    }
  });
});

describe("the package tsgi", () => {
  it("is small: at most 2.9 MB unpacked, eleven entry points in addition to the main one, three dependencies, two peers", async () => {
    const { exports, dependencies = {}, peerDependencies = {} } = manifestOf("core");
    expect(Object.keys(exports).filter((entry) => ![".", "./package.json"].includes(entry))).toHaveLength(11);
    expect(Object.keys(dependencies)).toHaveLength(3);
    expect(Object.keys(peerDependencies)).toHaveLength(2);
    expect(packageOf("core").unpackedSize).toBeLessThan(2_900_000);
  });

  it.each(["AGENTS.md", "skills/tsgi/SKILL.md"])("contains %s for agents, with the commands of npm", async (name) => {
    expect(pathsOf(packageOf("core"))).toContain(name);
    const page = await readFile(path.join(FRAMEWORK, "core", name), "utf8");
    expect(page).not.toMatch(/\{\{|\}\}|\.agents\//);
    expect(page).toContain("npx tsgi openapi --check openapi.json");
  });
});

describe("the command", () => {
  it.each(["cli", "core"])("of framework/%s can be run as it is, from a clone on", async (folder) => {
    const { bin = {}, version } = manifestOf(folder);
    for (const name of Object.values(bin)) {
      const ran = await run(path.join(FRAMEWORK, folder, name), ["--version"]);
      expect(ran).toMatchObject({ stdout: `${version}\n`, stderr: "" });
    }
  });

  it("prints in a clone the command to run before", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "tsgi-clone-"));
    try {
      await cp(path.join(FRAMEWORK, "cli/bin"), path.join(folder, "framework/cli/bin"), { recursive: true });
      await writeFile(path.join(folder, "framework/cli/package.json"), '{ "type": "module" }');
      await expect(run(path.join(folder, "framework/cli/bin/tsgi.js"))).rejects.toMatchObject({
        code: 1,
        stderr: `tsgi is not built yet. Run: npm --prefix ${folder}/ run build\n`,
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
