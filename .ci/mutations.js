/**
 * Shows that the tests find mistakes: breaks one line at a time, as `mutations.json` says, and runs the test file that
 * must fail. `make mutations ARGS="redis cors"` breaks only the lines in files whose names contain one of the words.
 *
 * Each file must be one of `make test`, and pass before its line is broken. A file that cannot be loaded does not count as
 * failed. Ends with status 1 if a test file passes with a broken line.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const ROOT = path.dirname(import.meta.dirname);
const JEST = [
  "--experimental-vm-modules",
  "--disable-warning=ExperimentalWarning",
  path.join(ROOT, "node_modules/jest/bin/jest.js"),
];

/** A broken line that makes a test wait forever is found after this time. */
const WITH_TIME_LIMIT = ["--testTimeout=60000"];

/** As in `make test`: without the slow tests. */
const { TSGI_SLOW: _slow, ...env } = process.env;

const words = process.argv.slice(2);
const mutations = JSON.parse(readFileSync(path.join(import.meta.dirname, "mutations.json"), "utf8")).filter(
  ({ file }) => words.length === 0 || words.some((word) => file.includes(word)),
);
const folder = mkdtempSync(path.join(tmpdir(), "mutations-"));
process.once("exit", () => rmSync(folder, { recursive: true }));

/** Runs test files, and returns jest's result. */
function run(files, options = []) {
  const output = path.join(folder, "result.json");
  const args = [...JEST, "--json", `--outputFile=${output}`, ...options, "--runTestsByPath"];
  spawnSync(process.execPath, [...args, ...files], { cwd: ROOT, env, stdio: "ignore" });
  const result = JSON.parse(readFileSync(output, "utf8"));
  rmSync(output);
  return result;
}

/** The reason why an entry no longer fits the code, or null. */
function findFault({ file, from, test }, listed) {
  const count = readFileSync(path.join(ROOT, file), "utf8").split(from).length - 1;
  if (count !== 1) return `${file} contains this ${count} times: ${from}`;
  return listed.has(path.join(ROOT, test)) ? null : `${test} is not a file of make test`;
}

/** Runs the test file with the broken line. */
function tryOne({ file, from, to, test }) {
  const target = path.join(ROOT, file);
  const text = readFileSync(target, "utf8");
  const restore = () => writeFileSync(target, text);
  process.once("exit", restore);
  try {
    writeFileSync(
      target,
      text.replace(from, () => to),
    );
    const { numFailedTests, numRuntimeErrorTestSuites } = run([test], WITH_TIME_LIMIT);
    if (numFailedTests > 0) return null;
    return numRuntimeErrorTestSuites > 0 ? "cannot be loaded" : "passes";
  } finally {
    restore();
    process.off("exit", restore);
  }
}

/** Signals end the process only after the broken file is restored, by the listeners of `exit`. */
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

const list = spawnSync(process.execPath, [...JEST, "--listTests"], { cwd: ROOT, env, encoding: "utf8" });
const listed = new Set(list.stdout.split("\n"));

/** Jest's "focused": tests of the file have passed, and the slow ones are skipped. */
const HAS_PASSED = new Set(["passed", "focused"]);
const faults = mutations.map((mutation) => findFault(mutation, listed)).filter((fault) => fault !== null);
const files = [...new Set(mutations.map(({ test }) => test))];
if (faults.length === 0) {
  console.log(`${files.length} test files without a broken line:`);
  const { numPassedTests, numFailedTests, testResults } = run(files);
  console.log(`${numPassedTests} passed, ${numFailedTests} failed\n`);
  faults.push(
    ...testResults
      .filter(({ status }) => !HAS_PASSED.has(status))
      .map(({ name }) => `${name} fails or is skipped as it is`),
  );
}
for (const [index, mutation] of faults.length > 0 ? [] : mutations.entries()) {
  const start = performance.now();
  const fault = tryOne(mutation);
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  const outcome = fault === null ? "found" : `NOT FOUND: ${mutation.test} ${fault}`;
  console.log(`${String(index + 1).padStart(3)}/${mutations.length}  ${mutation.file}: ${outcome} (${seconds} s)`);
  if (fault !== null) faults.push(`${mutation.file}, without its line ${mutation.from}: ${mutation.test} ${fault}`);
}
console.log(faults.length === 0 ? `\nAll ${mutations.length} broken lines are found.` : `\n${faults.join("\n")}`);
process.exitCode = faults.length === 0 ? 0 : 1;
