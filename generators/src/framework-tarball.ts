import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CommandError } from "./errors.js";
import { readJson } from "./json.js";
import { runNpm } from "./npm.js";
import type { FrameworkSource } from "./template.js";

/**
 * The framework of the repository as a project can carry it along: packed as it would be published.
 *
 * The framework is built and packed when the tarball is read, and only when it has changed since the last time: packing
 * takes most of a second.
 *
 * @param framework the folder of the framework
 * @param cache a folder for tarballs, each under what it was packed from
 */
export function packFramework(framework: string, cache: string): FrameworkSource {
  const path = `vendor/tsgi-${String(readJson(join(framework, "package.json"))["version"])}.tgz`;
  return {
    specifier: `file:${path}`,
    tarball: {
      path,
      read: async () => {
        await buildWhereNeeded(framework);
        return readFile(await findOrPack(framework, cache));
      },
    },
  };
}

async function buildWhereNeeded(framework: string): Promise<void> {
  const built = statSync(join(framework, "dist/.tsbuildinfo"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const changed = filesBelow(join(framework, "src")).map((path) => statSync(path).mtimeMs);
  if (built < Math.max(...changed)) {
    await runNpm(["run", "--silent", "build"], { cwd: framework, output: "on failure" });
  }
}

async function findOrPack(framework: string, cache: string): Promise<string> {
  const folder = join(cache, fingerprint(framework));
  if (!existsSync(folder)) {
    mkdirSync(cache, { recursive: true });
    const temporary = mkdtempSync(join(cache, "packing-"));
    try {
      await runNpm(["pack", "--ignore-scripts", "--pack-destination", temporary], {
        cwd: framework,
        output: "on failure",
      });
      removeOld(cache);
      renameSync(temporary, folder);
    } catch (error) {
      rmSync(temporary, { recursive: true, force: true });
      // Another run may have packed the same meanwhile.
      if (!existsSync(folder)) {
        throw error;
      }
    }
  }
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz"));
  if (tarball === undefined) {
    throw new CommandError(`npm pack left no tarball in ${folder}`);
  }
  return join(folder, tarball);
}

/** An hour is longer than any run that may still read an older tarball. */
function removeOld(cache: string): void {
  for (const name of readdirSync(cache)) {
    const path = join(cache, name);
    if (Date.now() - statSync(path).mtimeMs > 3_600_000) {
      rmSync(path, { recursive: true, force: true });
    }
  }
}

/** What lies in the folder of the framework and is not published. */
const unpublished = new Set(["bench", "node_modules", "src", "test"]);

/** Names the state of everything that may go into the package, by size and time of each file. */
function fingerprint(framework: string): string {
  const hash = createHash("sha256");
  for (const name of readdirSync(framework).filter((entry) => !unpublished.has(entry))) {
    for (const path of filesBelow(join(framework, name)).filter((file) => !file.endsWith(".tsbuildinfo"))) {
      const { size, mtimeMs } = statSync(path);
      hash.update(`${path}\n${size} ${mtimeMs}\n`);
    }
  }
  return hash.digest("hex").slice(0, 16);
}

/** All files below a folder, or the file itself. */
function filesBelow(path: string): string[] {
  return statSync(path).isDirectory()
    ? readdirSync(path)
        .toSorted()
        .flatMap((name) => filesBelow(join(path, name)))
    : [path];
}
