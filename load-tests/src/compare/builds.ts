/** The two builds of the framework that are compared, each with the same workload. @module */
import { execFile } from "node:child_process";
import { createReadStream, existsSync } from "node:fs";
import { cp, mkdir, readFile, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { REPOSITORY } from "../paths.js";
import type { Progress } from "../progress.js";

const run = promisify(execFile);
const ROOT = fileURLToPath(REPOSITORY);
const CACHE = path.join(ROOT, ".cache/compare");
const WORKLOAD = fileURLToPath(new URL("..", import.meta.url));

/** A build of the framework with the workload next to it. */
export interface Build {
  /** The commit's abbreviated hash, with `+` where the work tree differs from it. */
  readonly commit: string;
  /** Its folder with the compiled load tests: `new URL("app.js", build.workload)`. */
  readonly workload: URL;
}

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Both sides of a comparison. */
export interface Builds {
  readonly base: Build;
  readonly head: Build;
}

/** The last release before this commit: its tag `v*`, `null` without one. */
export async function lastRelease(): Promise<string | null> {
  return git("describe", "--tags", "--abbrev=0", "--match", "v*", "HEAD^").catch(() => null);
}

/** The default commit to compare with: the last release, otherwise the base of the work tree's changes. */
export async function defaultBase(): Promise<string> {
  return (await lastRelease()) ?? ((await isChanged()) ? "HEAD" : "HEAD^");
}

/**
 * Builds the framework of a commit in a separate work tree, and puts the workload of this work tree next to both
 * builds: they differ only in the framework.
 *
 * @throws Error when the name is unknown, or the commit does not build.
 */
export async function prepareBuilds(base: string, progress: Progress): Promise<Builds> {
  const commit = await git("rev-parse", "--verify", "--quiet", "--end-of-options", `${base}^{commit}`).catch(() => {
    throw new Error(`BASE=${base} names no commit and no tag. git log --oneline and git tag list them.`);
  });
  const tree = path.join(CACHE, commit);
  if (!existsSync(path.join(findCore(tree), "dist/.built-from"))) {
    await rm(tree, { recursive: true, force: true });
    progress.step(`taking ${base} from the repository`);
    await checkOut(commit, tree);
    if (!(await hasSamePackages(tree))) {
      progress.step(`installing the packages of ${base}`);
      await run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: tree });
    }
    progress.step(`building ${base}`);
    await buildCore(tree);
  }
  const now = `${(await git("rev-parse", "HEAD")).slice(0, 9)}${(await isChanged()) ? "+" : ""}`;
  return {
    base: await place("base", findCore(tree), commit.slice(0, 9)),
    head: await place("head", findCore(ROOT), now),
  };
}

/** The folder of the package `tsgi`: `framework/core`, or `framework` in commits before it was one of several packages. */
export function findCore(tree: string): string {
  const core = path.join(tree, "framework/core");
  return existsSync(path.join(core, "package.json")) ? core : path.join(tree, "framework");
}

/**
 * Builds only the package `tsgi`. The others import it by its name, which is the build of this work tree where the
 * commit has no packages of its own.
 */
async function buildCore(tree: string): Promise<void> {
  const framework = path.join(tree, "framework");
  if (findCore(tree) === framework) {
    await run("npm", ["run", "--silent", "build", "--workspace", "framework"], { cwd: tree });
    return;
  }
  const compiler = createRequire(path.join(framework, "package.json")).resolve("typescript/package.json");
  await run(process.execPath, [path.join(path.dirname(compiler), "bin/tsc"), "-b", "core"], { cwd: framework });
  await run(process.execPath, ["scripts/build.js", "core", "docs-ui"], { cwd: framework });
}

async function git(...args: string[]): Promise<string> {
  return (await run("git", args, { cwd: ROOT })).stdout.trim();
}

async function isChanged(): Promise<boolean> {
  return (await git("status", "--porcelain", "--", "framework/core/src", "framework/core/package.json")) !== "";
}

/** Not a linked work tree: git would remember one after `make clean`. */
async function checkOut(commit: string, tree: string): Promise<void> {
  const archive = `${tree}.tar`;
  await mkdir(tree, { recursive: true });
  await git("archive", "--output", archive, commit);
  const unpack = run("tar", ["-x", "-C", tree]);
  createReadStream(archive).pipe(unpack.child.stdin ?? process.stderr);
  await unpack;
  await rm(archive);
}

/** True if the packages that are installed here, in their exact versions, serve that commit too. */
async function hasSamePackages(tree: string): Promise<boolean> {
  const needed = Object.entries((await readManifest(findCore(tree))).dependencies ?? {});
  const found = await Promise.all(
    needed.map(async ([name, version]) => {
      const folder = findPackage(name, findCore(ROOT));
      return folder !== undefined && (await readManifest(folder)).version === version;
    }),
  );
  return found.every(Boolean);
}

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(path.join(folder, "package.json"), "utf8")) as Manifest;
}

/** The folder of an installed package, looked for from another one upwards. */
function findPackage(name: string, from: string): string | undefined {
  const folders = createRequire(path.join(from, "package.json")).resolve.paths(name) ?? [];
  return folders.map((folder) => path.join(folder, name)).find((candidate) => existsSync(candidate));
}

/** A folder in which `tsgi` is that build, for the compiled load tests in it. */
async function place(name: string, core: string, commit: string): Promise<Build> {
  const home = path.join(CACHE, `${name}-build`);
  const modules = path.join(home, "node_modules");
  const installed = path.join(modules, "tsgi");
  await rm(home, { recursive: true, force: true });
  await mkdir(installed, { recursive: true });
  await cp(path.join(core, "package.json"), path.join(installed, "package.json"));
  await cp(path.join(core, "dist"), path.join(installed, "dist"), { recursive: true });
  await linkDependencies(core, modules);
  await cp(path.join(ROOT, "load-tests/package.json"), path.join(home, "package.json"));
  await cp(WORKLOAD, path.join(home, "dist"), { recursive: true });
  return { commit, workload: pathToFileURL(`${home}/dist/`) };
}

async function linkDependencies(core: string, modules: string): Promise<void> {
  for (const dependency of Object.keys((await readManifest(core)).dependencies ?? {})) {
    const source = findPackage(dependency, core);
    if (source === undefined) throw new Error(`${dependency} is not installed. Install it with: npm ci`);
    await mkdir(path.dirname(path.join(modules, dependency)), { recursive: true });
    await symlink(source, path.join(modules, dependency));
  }
}
