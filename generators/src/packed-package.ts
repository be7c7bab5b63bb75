import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CommandError } from "./errors.js";
import { readJson } from "./json.js";
import { runNpm } from "./npm.js";
import type { PackageSource } from "./template.js";
import { fileNameOf } from "./vendored.js";

/** Packages of the repository that projects include as tarballs, packed together. */
export interface OwnPackages {
  /** The name of their folder in the cache. */
  name: string;
  folders: readonly string[];
  /** The workspace whose script `build` builds them. Without one, packing builds them. */
  builtIn?: string;
  /** A hash of all of their sources. */
  fingerprint: () => string;
}

/**
 * A package of the repository, packed as for a release. Packing builds it and takes seconds, so it happens when the
 * tarball is first read, and again only after a change of the sources.
 *
 * @param folder one of the folders of `own`
 * @param cache a folder for tarballs, each in a folder named by the hash of the sources
 */
export function packPackage(folder: string, own: OwnPackages, cache: string): PackageSource {
  const file = tarballName(folder);
  const path = `vendor/${file}`;
  return {
    specifier: `file:${path}`,
    tarball: {
      path,
      read: async () => readFile(join(await findOrPack(own, join(cache, own.name)), file)),
    },
  };
}

function tarballName(folder: string): string {
  const { name, version } = readJson(join(folder, "package.json"));
  return fileNameOf(String(name), String(version));
}

async function findOrPack(own: OwnPackages, cache: string): Promise<string> {
  const folder = join(cache, own.fingerprint());
  if (!existsSync(folder)) {
    mkdirSync(cache, { recursive: true });
    await pack(own, folder);
  }
  return folder;
}

async function pack({ folders, builtIn }: OwnPackages, folder: string): Promise<void> {
  const temporary = mkdtempSync(`${folder}-`);
  try {
    if (builtIn !== undefined) {
      await runNpm(["run", "--silent", "build"], { cwd: builtIn, output: "on failure" });
    }
    await runNpm(["pack", "--pack-destination", temporary, ...folders], {
      cwd: dirname(folders[0] ?? "."),
      output: "on failure",
    });
    // An interrupted npm may end with 0. A folder without a tarball must not be used.
    const packed = readdirSync(temporary);
    const missing = folders.map(tarballName).filter((file) => !packed.includes(file));
    if (missing.length > 0) {
      throw new CommandError(`npm pack wrote no ${missing.join(", ")}`);
    }
    removeOld(dirname(folder));
    // Another process may have packed the same sources meanwhile.
    if (!existsSync(folder)) {
      renameSync(temporary, folder);
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true });
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
