import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CommandError } from "./errors.js";
import { readJson } from "./json.js";
import { withLock } from "./lock.js";
import { runNpm } from "./npm.js";
import type { PackageSource } from "./template.js";

/** A package of the repository that projects include as a tarball. */
export interface OwnPackage {
  folder: string;
  /** A hash of all of its sources. */
  fingerprint: () => string;
}

/**
 * A package of the repository, packed as for a release. Packing builds it and takes seconds, so it happens when the
 * tarball is first read, and again only after a change of the sources.
 *
 * @param cache a folder for tarballs, each named by the hash of its sources
 */
export function packPackage(own: OwnPackage, cache: string): PackageSource {
  const { name, version } = readJson(join(own.folder, "package.json"));
  const path = `vendor/${String(name)}-${String(version)}.tgz`;
  return {
    specifier: `file:${path}`,
    tarball: {
      path,
      read: async () => readFile(await findOrPack(own, join(cache, String(name)))),
    },
  };
}

async function findOrPack(own: OwnPackage, cache: string): Promise<string> {
  const folder = join(cache, own.fingerprint());
  if (!existsSync(folder)) {
    mkdirSync(cache, { recursive: true });
    // Concurrent builds would read incomplete files of each other.
    await withLock(join(cache, "lock"), async () => {
      if (!existsSync(folder)) {
        await pack(own.folder, folder);
      }
    });
  }
  return join(folder, tarballIn(folder));
}

function tarballIn(folder: string): string {
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz"));
  if (tarball === undefined) {
    throw new CommandError(`npm pack wrote no tarball to ${folder}`);
  }
  return tarball;
}

async function pack(source: string, folder: string): Promise<void> {
  const temporary = mkdtempSync(`${folder}-`);
  try {
    await runNpm(["pack", "--pack-destination", temporary], { cwd: source, output: "on failure" });
    // An interrupted npm may end with 0. A folder without a tarball must not count as packed.
    tarballIn(temporary);
    removeOld(dirname(folder));
    renameSync(temporary, folder);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    throw error;
  }
}

/** One hour: longer than any run that may still read an older tarball. */
function removeOld(cache: string): void {
  for (const name of readdirSync(cache)) {
    const path = join(cache, name);
    if (Date.now() - statSync(path).mtimeMs > 3_600_000) {
      rmSync(path, { recursive: true, force: true });
    }
  }
}

/** Not sources: npm rebuilds `dist` and `templates` before it packs. */
const isNoSource = new Set([".cache", "bench", "build", "dist", "node_modules", "starters", "templates", "test"]);

/** A hash of a package's own files, by size and time of each. */
export function fingerprintOf(folder: string): string {
  const hash = createHash("sha256");
  for (const name of readdirSync(folder).filter((entry) => !isNoSource.has(entry))) {
    for (const path of filesBelow(join(folder, name))) {
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
