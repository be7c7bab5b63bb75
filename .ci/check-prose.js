/**
 * Holds comments, messages and pages to the rules of `prose/rules.js`.
 *
 *     node .ci/check-prose.js               # ends with 1 where a file breaks a rule more often than it may
 *     node .ci/check-prose.js docs/a.md …   # lists all places in these files
 *     node .ci/check-prose.js --update      # lowers the counts of `prose/allowed.json`
 *
 * `prose/allowed.json` counts what older files still have. A count only falls: one that has fallen is to be lowered, so
 * that it cannot rise again. A word that the dictionary lacks and the field has goes into `prose/words.txt`.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { rules } from "./prose/rules.js";
import { textsOfPage, textsOfProgram } from "./prose/texts.js";

const ROOT = path.dirname(import.meta.dirname);
const ALLOWED = path.join(import.meta.dirname, "prose/allowed.json");

/** Pages of others, pages whose sentences are quotations, and lists of words. */
const OTHERS =
  /^(?:CODE_OF_CONDUCT\.md|CHANGELOG\.md|framework\/(?:api\/|docs\/specification\.md)|\.ci\/prose\/rules\.js)|\/generated\//;

function listFiles() {
  const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  return files
    .split("\n")
    .filter((file) => /\.(?:[cm]?[jt]s|md)$/.test(file) && !OTHERS.test(file) && existsSync(path.join(ROOT, file)));
}

/** The places in a file that break rules. */
function findFaults(file) {
  const content = readFileSync(path.join(ROOT, file), "utf8");
  const texts = file.endsWith(".md") ? textsOfPage(content) : textsOfProgram(file, content);
  // Tests have messages of all kinds: what clients send, what others write.
  const own = /\/test\//.test(file) ? texts.filter(({ kind }) => kind !== "message") : texts;
  return own.flatMap((text) =>
    Object.entries(rules).flatMap(([rule, find]) =>
      find(text).map((found) => ({ file, line: text.line, rule, found })),
    ),
  );
}

const show = ({ file, line, rule, found }) => `${file}:${line} ${rule}: ${found}\n`;

/** By file, and by rule, the number of places. */
function count(faults) {
  const counts = {};
  for (const { file, rule } of faults) {
    counts[file] ??= {};
    counts[file][rule] = (counts[file][rule] ?? 0) + 1;
  }
  return counts;
}

const total = (counts, rule) => Object.values(counts).reduce((sum, ofFile) => sum + (ofFile[rule] ?? 0), 0);

/** The files and rules with more or fewer places than allowed. */
function compare(faults, allowed) {
  const counts = count(faults);
  const files = [...new Set([...Object.keys(counts), ...Object.keys(allowed)])];
  return files.flatMap((file) =>
    Object.keys(rules)
      .map((rule) => ({ file, rule, now: counts[file]?.[rule] ?? 0, most: allowed[file]?.[rule] ?? 0 }))
      .filter(({ now, most }) => now !== most),
  );
}

function check(faults, allowed) {
  const differences = compare(faults, allowed);
  for (const { file, rule, now, most } of differences.filter((one) => one.now > one.most)) {
    const places = faults.filter((fault) => fault.file === file && fault.rule === rule);
    process.stderr.write(
      `${places.map(show).join("")}${file}: ${now} of the rule ${rule}, at most ${most} are allowed.\n`,
    );
    process.exitCode = 1;
  }
  const fallen = differences.filter(({ now, most }) => now < most);
  if (fallen.length === 0) return;
  for (const { file, rule, now, most } of fallen)
    process.stderr.write(`${file}: ${rule} has fallen from ${most} to ${now}.\n`);
  process.stderr.write("Lower the counts: node .ci/check-prose.js --update\n");
  process.exitCode = 1;
}

/** Writes the counts as they are. A file that was moved takes its own along: no sum over all files may rise. */
function update(faults, allowed) {
  const counts = count(faults);
  const risen = Object.keys(rules).filter((rule) => total(counts, rule) > total(allowed, rule));
  if (risen.length > 0) return check(faults, allowed);
  const lines = Object.keys(counts)
    .toSorted()
    .map(
      (file) =>
        `  ${JSON.stringify(file)}: ${JSON.stringify(counts[file])
          .replaceAll(/([:,])/g, "$1 ")
          .replace("{", "{ ")
          .replace("}", " }")}`,
    );
  writeFileSync(ALLOWED, `{\n${lines.join(",\n")}\n}\n`);
}

const parameters = process.argv.slice(2);
const isUpdate = parameters.includes("--update");
const named = parameters
  .filter((parameter) => !parameter.startsWith("--"))
  .map((file) => path.relative(ROOT, path.resolve(file)));
const faults = (named.length > 0 ? named : listFiles()).flatMap(findFaults);
const allowed = JSON.parse(readFileSync(ALLOWED, "utf8"));
if (named.length > 0) process.stdout.write(faults.map(show).join(""));
else if (isUpdate) update(faults, allowed);
else check(faults, allowed);
