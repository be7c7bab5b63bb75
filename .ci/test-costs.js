/**
 * Runs the tests, and prints the processor seconds of each folder, of its most expensive files, and of the whole run, with
 * children. Arguments go to jest: `node .ci/test-costs.js framework/core`. Linux only, because it reads `/proc`.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { processorSeconds } from "./processor-time.js";

const ROOT = path.dirname(import.meta.dirname);

/** The files of a folder that are printed. */
const MOST_EXPENSIVE = 8;

const folder = mkdtempSync(path.join(tmpdir(), "test-costs-"));
const file = path.join(folder, "costs");
const start = Date.now();
const before = processorSeconds();
const env = { ...process.env, TEST_COSTS: file };
const { status } = spawnSync("npm", ["test", "--silent", "--", ...process.argv.slice(2)], {
  cwd: ROOT,
  env,
  stdio: "inherit",
});
const total = processorSeconds() - before;
const costs = readFileSync(file, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
rmSync(folder, { recursive: true });

/** `framework/redis`, or `generators`. */
function folderOf(name) {
  return name.slice(0, name.indexOf("/test/"));
}

const row = (seconds, name) => `${seconds.toFixed(1).padStart(8)}  ${name}`;
const sum = (list) => list.reduce((all, { seconds }) => all + seconds, 0);

/** @type {Map<string, { file: string, seconds: number }[]>} */
const folders = new Map();
for (const cost of costs) {
  const name = folderOf(cost.file);
  folders.set(name, [...(folders.get(name) ?? []), cost]);
}
for (const [name, list] of [...folders].toSorted(([, one], [, other]) => sum(other) - sum(one))) {
  console.log(row(sum(list), `${name} (${list.length} files)`));
  for (const each of list.toSorted((one, other) => other.seconds - one.seconds).slice(0, MOST_EXPENSIVE)) {
    console.log(`          ${row(each.seconds, path.relative(`${name}/test`, each.file))}`);
  }
}
console.log(row(sum(costs), "all test files"));
console.log(row(total, `processor seconds with build and jest, in ${Math.round((Date.now() - start) / 1000)} s`));
process.exitCode = status ?? 1;
