/**
 * Builds the exports of each `package.json` from the sources, after the compiler has checked them: the bundles, and the
 * files of the documentation pages. Skips a package whose sources and output have not changed.
 *
 *     node framework/scripts/build.js              # all packages
 *     node framework/scripts/build.js FOLDER…      # only these
 */
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { version as swc } from "@swc/core";
import { version as esbuild } from "esbuild";
import { writeAgentPages } from "./agents.js";
import { copyAssets } from "./assets.js";
import { bundle } from "./bundle.js";
import { FRAMEWORK, packageFolders } from "./packages.js";

const SCRIPTS = ["build.js", "bundle.js", "shorten.js", "assets.js"];

/** The files below a folder of a package, relative to that folder, in one order on every machine. */
function filesBelow(home) {
  if (!existsSync(home)) return [];
  const entries = readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map((entry) => path.relative(home, path.join(entry.parentPath, entry.name))).toSorted();
}

/** The state of everything that goes into the build. */
function fingerprint(folder) {
  const hash = createHash("sha256");
  for (const part of ["src", "assets"]) {
    for (const name of filesBelow(path.join(folder, part))) {
      hash.update(`${part}/${name}\0`).update(readFileSync(path.join(folder, part, name)));
    }
  }
  hash.update(readFileSync(path.join(folder, "package.json")));
  for (const name of SCRIPTS) hash.update(readFileSync(path.join(import.meta.dirname, name)));
  hash.update(`${esbuild} ${swc}`);
  return hash.digest("hex");
}

/** True if the files of the last build exist and match the sources. */
function isFresh(folder, made) {
  const stamp = path.join(folder, "dist/.built-from");
  if (!existsSync(stamp)) return false;
  const [before, ...files] = readFileSync(stamp, "utf8").split("\n");
  return before === made && files.every((file) => existsSync(path.join(folder, "dist", file)));
}

/** Removes the output of deleted sources. */
function prune(folder, made) {
  const modules = filesBelow(path.join(folder, "src")).map((name) => name.replace(/\.ts$/, ""));
  const expected = {
    dist: new Set([...made, ...modules.flatMap((name) => [`${name}.d.ts`, `${name}.d.ts.map`])]),
    build: new Set(modules.flatMap((name) => [`${name}.js`, `${name}.js.map`])),
  };
  for (const [part, files] of Object.entries(expected)) {
    const home = path.join(folder, part);
    // Those with a dot are the notes of this build and of the compiler.
    const left = filesBelow(home).filter((name) => !files.has(name) && !path.basename(name).startsWith("."));
    for (const name of left) rmSync(path.join(home, name));
  }
}

/** Pages that a package has a copy of: `tsgi explain` prints sections of the page of errors. */
const PAGES = { cli: { "assets/errors.md": "docs/errors.md" } };

function copyPages(folder) {
  for (const [name, page] of Object.entries(PAGES[path.basename(folder)] ?? {})) {
    const [source, copy] = [path.join(FRAMEWORK, page), path.join(folder, name)];
    // Tools take a newer file for a changed one.
    if (!existsSync(copy) || !readFileSync(copy).equals(readFileSync(source))) copyFileSync(source, copy);
  }
}

async function build(folder) {
  copyPages(folder);
  if (path.basename(folder) === "core") writeAgentPages(folder);
  const sources = fingerprint(folder);
  if (isFresh(folder, sources)) return;
  const stamp = path.join(folder, "dist/.built-from");
  rmSync(stamp, { force: true });
  const made = existsSync(path.join(folder, "src")) ? await bundle(folder) : copyAssets(folder);
  prune(folder, made);
  writeFileSync(stamp, [sources, ...made].join("\n"));
}

const [, , ...named] = process.argv;
const folders = named.length > 0 ? named.map((name) => path.resolve(name)) : packageFolders();
for (const folder of folders) await build(folder);
