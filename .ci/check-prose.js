/**
 * Checks pages, comments, messages, titles of tests and subjects of new commits against the rules of `prose/rules.js`.
 *
 *     node .ci/check-prose.js               # exits with 1 if a file breaks a rule more often than allowed
 *     node .ci/check-prose.js docs/a.md …   # lists each violation in these files
 *     node .ci/check-prose.js --update      # lowers the counts of `prose/allowed.json`
 *
 * `prose/allowed.json` counts the violations of older files. A count can only fall: if it has fallen, lower it, so that it
 * cannot rise again. Add technical words that the dictionary does not contain to `prose/words.txt`.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { rules, wordsOf } from "./prose/rules.js";
import { textsOfPage, textsOfProgram } from "./prose/texts.js";

const ROOT = path.dirname(import.meta.dirname);
const ALLOWED = path.join(import.meta.dirname, "prose/allowed.json");

/** Pages of others, and lists of words. */
const OTHERS = /^(?:CODE_OF_CONDUCT\.md|framework\/api\/|\.ci\/prose\/(?:rules|stilted)\.js)|\/generated\//;

/** Pages that only the rules for their phrases read: their sentences are titles of tests, or lines of a list. */
const LISTS = /^(?:CHANGELOG\.md|framework\/docs\/specification\.md)$/;
const RULES_OF_LISTS = new Set(["stilted", "clause"]);

function listFiles() {
  const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  return files
    .split("\n")
    .filter((file) => /\.(?:[cm]?[jt]s|md)$/.test(file) && !OTHERS.test(file) && existsSync(path.join(ROOT, file)));
}

/** The texts of a file. */
function textsOf(file) {
  const content = readFileSync(path.join(ROOT, file), "utf8");
  const texts = file.endsWith(".md") ? textsOfPage(content) : textsOfProgram(file, content);
  // Tests have messages of all kinds: what clients send, what others write.
  const own = /\/test\//.test(file) ? texts.filter(({ kind }) => kind !== "message") : texts;
  return own.map((text) => ({ ...text, file }));
}

/** The subjects of the commits that are not on the main branch yet, and can still be changed. */
function listSubjects() {
  const git = (...args) =>
    execFileSync("git", args, { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  for (const base of ["origin/main", "main"]) {
    try {
      const subjects = git("log", "--no-merges", "--format=%h %s", `${base}..HEAD`).split("\n").filter(Boolean);
      return subjects.map((line) => ({
        kind: "subject",
        file: `commit ${line.slice(0, line.indexOf(" "))}`,
        line: 1,
        text: line.slice(line.indexOf(" ") + 1),
      }));
    } catch {
      // A clone without this branch, or a folder without git.
    }
  }
  return [];
}

/** The places in a text that break rules. */
function findFaults(text) {
  const { file, kind, line } = text;
  const isRead = (rule) =>
    kind === "subject" ? /subject|stilted/.test(rule) : !LISTS.test(file) || RULES_OF_LISTS.has(rule);
  return Object.entries(rules).flatMap(([rule, find]) =>
    isRead(rule) ? find(text).map((found) => ({ file, kind, line, rule, found })) : [],
  );
}

const KINDS = {
  pages: /paragraph|heading/,
  comments: /comment/,
  messages: /message/,
  titles: /title/,
  subjects: /subject/,
};

/** Stilted phrases per 1,000 words, by kind of text. */
function summarize(texts, faults) {
  const stilted = faults.filter(({ rule }) => rule === "stilted");
  const parts = Object.entries(KINDS).map(([name, kinds]) => {
    const words = texts.filter(({ kind }) => kinds.test(kind)).reduce((sum, text) => sum + wordsOf(text), 0);
    const hits = stilted.filter(({ kind }) => kinds.test(kind)).length;
    return `${name} ${((1000 * hits) / Math.max(words, 1)).toFixed(1)} (${hits})`;
  });
  return `Stilted phrases per 1,000 words: ${parts.join(", ")}\n`;
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

/** The counts of some rules. */
function onlyRules(counts, names) {
  const entries = Object.entries(counts).map(([file, ofFile]) => [
    file,
    Object.fromEntries(Object.entries(ofFile).filter(([rule]) => names.includes(rule))),
  ]);
  return Object.fromEntries(entries);
}

/** Writes the counts as they are. A file that was moved takes its own along: no sum over all files may rise. */
function update(faults, allowed) {
  const counts = count(faults.filter(({ kind }) => kind !== "subject"));
  const risen = Object.keys(rules).filter((rule) => total(counts, rule) > total(allowed, rule));
  if (risen.length > 0)
    return check(
      faults.filter(({ rule }) => risen.includes(rule)),
      onlyRules(allowed, risen),
    );
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
  execFileSync(path.join(ROOT, "node_modules/.bin/oxfmt"), [ALLOWED], { stdio: "ignore" });
}

const parameters = process.argv.slice(2);
const isUpdate = parameters.includes("--update");
const named = parameters
  .filter((parameter) => !parameter.startsWith("--"))
  .map((file) => path.relative(ROOT, path.resolve(file)));
const texts = (named.length > 0 ? named : listFiles()).flatMap(textsOf);
if (named.length === 0) texts.push(...listSubjects());
const faults = texts.flatMap(findFaults);
const allowed = JSON.parse(readFileSync(ALLOWED, "utf8"));
if (named.length > 0) process.stdout.write(faults.map(show).join(""));
else if (isUpdate) update(faults, allowed);
else check(faults, allowed);
process.stdout.write(summarize(texts, faults));
