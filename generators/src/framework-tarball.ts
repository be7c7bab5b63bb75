import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CommandError } from "./errors.js";
import { readJson } from "./json.js";
import { withLock } from "./lock.js";
import { runNpm } from "./npm.js";
import type { FrameworkSource } from "./template.js";

/**
 * The framework of the repository as a project can carry it along: packed as it would be published.
 *
 * It is packed when the tarball is read, and only when its sources have changed since the last time: packing builds it,
 * and takes seconds.
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
      read: async () => readFile(await findOrPack(framework, cache)),
    },
  };
}

async function findOrPack(framework: string, cache: string): Promise<string> {
  const folder = join(cache, fingerprint(framework));
  if (!existsSync(folder)) {
    mkdirSync(cache, { recursive: true });
    // Two builds at once would read each other's half-written files.
    await withLock(join(cache, "lock"), async () => {
      if (!existsSync(folder)) {
        await pack(framework, folder);
      }
    });
  }
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz"));
  if (tarball === undefined) {
    throw new CommandError(`npm pack left no tarball in ${folder}`);
  }
  return join(folder, tarball);
}

async function pack(framework: string, folder: string): Promise<void> {
  const temporary = mkdtempSync(`${folder}-`);
  try {
    await runNpm(["pack", "--pack-destination", temporary], { cwd: framework, output: "on failure" });
    removeOld(dirname(folder));
    renameSync(temporary, folder);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    throw error;
  }
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

/** What the package is not made from: npm makes `dist` anew before it packs. */
const isNoSource = new Set(["bench", "dist", "node_modules", "test"]);

/** Names the state of everything that the package is made from, by size and time of each file. */
function fingerprint(framework: string): string {
  const hash = createHash("sha256");
  for (const name of readdirSync(framework).filter((entry) => !isNoSource.has(entry))) {
    for (const path of filesBelow(join(framework, name))) {
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
