/**
 * Says whether a tag may be released: `node .ci/check-release.js v1.2.3`. With `--rehearsal` the changelog may still
 * have the heading "Unreleased". With `--dist-tag` it prints the dist-tag for npm: `next` for a version such as
 * 1.2.3-beta.1, else `latest`.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { packageFolders } from "../framework/scripts/packages.js";

const root = path.dirname(import.meta.dirname);
const isQuestion = process.argv[2] === "--dist-tag";
const isRehearsal = process.argv[2] === "--rehearsal";
const tag = process.argv.at(-1);
const version = /^v(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$/.exec(tag ?? "")?.[1];

const faults = [];
if (version === undefined) faults.push(`${tag} is not a version tag: write it as v1.2.3.`);
for (const folder of [...packageFolders(), path.join(root, "generators")]) {
  const { name, version: own } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  const file = path.relative(root, path.join(folder, "package.json"));
  if (own !== version) faults.push(`${name} has the version ${own} (${file}), the tag ${tag}.`);
}
const changelog = readFileSync(path.join(root, "CHANGELOG.md"), "utf8");
const isListed =
  changelog.includes(`\n## [${version}] - 20`) || (isRehearsal && changelog.includes("\n## [Unreleased]"));
if (!isListed) {
  faults.push(`CHANGELOG.md has no heading "## [${version}] - ${new Date().toISOString().slice(0, 10)}".`);
}

if (isQuestion) {
  console.log(version?.includes("-") ? "next" : "latest");
} else if (faults.length > 0) {
  console.error(faults.join("\n"));
  process.exitCode = 1;
}
