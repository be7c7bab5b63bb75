/** Builds the files to pack: the bundle, the licences of its packages, and the templates. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { packTemplates } from "../dist/packed-templates.js";
import { Repository } from "../dist/repository.js";
import { bundle } from "./bundle.js";

const packageRoot = path.dirname(import.meta.dirname);
const output = path.join(packageRoot, "dist/bundle");

const { modules, files: bundled } = await bundle(packageRoot);
for (const stale of readdirSync(output).filter((name) => !bundled.includes(name))) {
  rmSync(path.join(output, stale));
}
writeFileSync(path.join(output, "LICENSES.txt"), collectLicences(modules));

const repository = Repository.find(packageRoot);
packTemplates(repository, packageRoot);

/** The licence texts of the bundled packages. */
function collectLicences(paths) {
  const folders = new Set(paths.map(folderOfPackage).filter((folder) => folder !== null));
  // By name and version: a package may be installed in several places.
  const texts = new Map([...folders].map(readLicence));
  return [...texts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([title, text]) => `${title}\n\n${text}\n`)
    .join(`\n${"-".repeat(80)}\n\n`);
}

function readLicence(folder) {
  const { name, version, license } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|notice)/i.test(file));
  const text = files.map((file) => readFileSync(path.join(folder, file), "utf8").trim()).join("\n\n");
  return [`${name} ${version} (${license})`, text];
}

/** The folder of the package that a file belongs to, or null for our own files. */
function folderOfPackage(file) {
  const [, folder] = /^(.*[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+)[/\\]/.exec(file) ?? [];
  return folder !== undefined && existsSync(path.join(folder, "package.json")) ? folder : null;
}
