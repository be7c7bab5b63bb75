import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CommandError } from "./errors.js";
import { readJson } from "./json.js";
import { withLock } from "./lock.js";
import { runNpm } from "./npm.js";
import type { PackageSource } from "./template.js";

/** A package of the repository that projects carry along. */
export interface OwnPackage {
  folder: string;
  /** Names the state of everything that it is made from. */
  fingerprint: () => string;
}

/**
 * A package of the repository as a project can carry it along: packed as it would be published.
 *
 * It is packed when the tarball is read, and only when its sources have changed since the last time: packing builds it,
 * and takes seconds.
 *
 * @param cache a folder for tarballs, each under what it was packed from
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
    // Two builds at once would read each other's half-written files.
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
    throw new CommandError(`npm pack left no tarball in ${folder}`);
  }
  return tarball;
}

async function pack(source: string, folder: string): Promise<void> {
  const temporary = mkdtempSync(`${folder}-`);
  try {
    await runNpm(["pack", "--pack-destination", temporary], { cwd: source, output: "on failure" });
    // An npm that is interrupted may end with 0: a folder without a tarball would be taken for packed ever after.
    tarballIn(temporary);
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

/** What no package here is made from: npm makes `dist` and `templates` anew before it packs. */
const isNoSource = new Set([".cache", "bench", "build", "dist", "node_modules", "starters", "templates", "test"]);

/** Names the state of the files that a package has of its own, by the size and time of each. */
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
