/**
 * Makes of the sources what `package.json` exports, once the compiler has checked them: the bundle, and the files of the
 * documentation pages. Does nothing where neither they nor what stands in `dist` has changed since. The package is the one
 * in the working directory.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { copyAssets, folderOf, PACKAGES } from "./assets.js";
import { bundle } from "./bundle.js";

const framework = process.cwd();
const dist = path.join(framework, "dist");
const stamp = path.join(dist, ".built-from");
const SCRIPTS = ["build.js", "bundle.js", "assets.js"];

/** The files below a folder of this package, relative to the folder, in one order on every machine. */
function filesBelow(folder) {
  const home = path.join(framework, folder);
  const entries = readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map((entry) => path.relative(home, path.join(entry.parentPath, entry.name))).toSorted();
}

/** The state of everything that goes into the build. */
function fingerprint() {
  const hash = createHash("sha256");
  for (const folder of ["src", "assets"]) {
    for (const name of filesBelow(folder)) {
      hash.update(`${folder}/${name}\0`).update(readFileSync(path.join(framework, folder, name)));
    }
  }
  hash.update(readFileSync(path.join(framework, "package.json")));
  for (const name of SCRIPTS) hash.update(readFileSync(path.join(import.meta.dirname, name)));
  for (const name of ["esbuild", ...Object.keys(PACKAGES)]) {
    hash.update(readFileSync(path.join(folderOf(name), "package.json")));
  }
  return hash.digest("hex");
}

/** True if the files of the last build exist and match the sources. */
function isFresh(made) {
  if (!existsSync(stamp)) return false;
  const [before, ...files] = readFileSync(stamp, "utf8").split("\n");
  return before === made && files.every((file) => existsSync(path.join(dist, file)));
}

/** Removes the output of deleted sources. */
function prune(made) {
  const modules = filesBelow("src").map((name) => name.replace(/\.ts$/, ""));
  const expected = new Map([
    ["dist", new Set([...made, ...modules.flatMap((name) => [`${name}.d.ts`, `${name}.d.ts.map`])])],
    ["build", new Set(modules.flatMap((name) => [`${name}.js`, `${name}.js.map`]))],
  ]);
  for (const [folder, files] of expected) {
    // Those with a dot are the notes of this build and of the compiler.
    const left = filesBelow(folder).filter((name) => !files.has(name) && !path.basename(name).startsWith("."));
    for (const name of left) rmSync(path.join(framework, folder, name));
  }
}

const sources = fingerprint();
if (!isFresh(sources)) {
  rmSync(stamp, { force: true });
  const made = [...(await bundle(framework)), ...copyAssets(framework)];
  prune(made);
  writeFileSync(stamp, [sources, ...made].join("\n"));
}
