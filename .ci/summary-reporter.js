import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** Jest prints this, and passes, if a test worker has not ended 500 ms after its last file. */
const STUCK_WORKER = "A worker process has failed to exit gracefully";

/** fast-check's report of a failed property begins with its seed. */
const SEED = /\{ seed: (-?\d+)/;

/**
 * Prints each failed test with the seed that repeats it, and the closing line `N passed, N failed, N skipped`. Writes both
 * to the file that TEST_SUMMARY specifies, the closing line first. A file that could not run, or left something running,
 * counts as one failed test; so does a worker that did not exit.
 */
export default class SummaryReporter {
  #root;
  #watching;
  #stuckWorker = null;
  #printError = console.error;
  /** Has a file for each worker that cannot exit, which the environment of the tests writes. */
  #workers = mkdtempSync(path.join(tmpdir(), "test-workers-"));

  constructor({ rootDir, watch, watchAll }) {
    this.#root = rootDir;
    this.#watching = watch || watchAll;
    process.env.TEST_WORKERS = this.#workers;
  }

  onRunStart() {
    console.error = (...parts) => {
      if (!String(parts[0]).includes(STUCK_WORKER)) return this.#printError(...parts);
      // On a busy machine a process takes longer than that: Node waits for V8, which may be compiling WebAssembly.
      const handles = readdirSync(this.#workers).map((name) => readFileSync(path.join(this.#workers, name), "utf8"));
      if (handles.length === 0) return;
      this.#stuckWorker = new Error(`A test worker did not exit: a test file left open in it: ${handles.join(", ")}.`);
      this.#printError(...parts);
    };
  }

  onRunComplete(_contexts, results) {
    console.error = this.#printError;
    if (!this.#watching) rmSync(this.#workers, { recursive: true });
    const failures = results.testResults.flatMap((file) => this.#failuresOf(file));
    if (this.#stuckWorker !== null) failures.push(this.#stuckWorker.message);
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites + (this.#stuckWorker === null ? 0 : 1);
    const skipped = results.numPendingTests + results.numTodoTests;
    const line = `${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped`;
    const list = failures.map((failure) => `${failure}\n`).join("");
    process.stderr.write(`\n${list === "" ? "" : `Failed:\n${list}\n`}${line}\n`);
    if (process.env.TEST_SUMMARY) {
      writeFileSync(process.env.TEST_SUMMARY, `${line}\n${list}`);
    }
    if (!this.#watching) {
      // This timer does not keep the process alive: it fires only if a test file that ran in this process left a handle
      // open.
      setTimeout(() => process.exit(1), 5000).unref();
    }
  }

  /** Jest ends with status 1 if a reporter has an error. */
  getLastError() {
    return this.#stuckWorker ?? undefined;
  }

  #failuresOf({ testFilePath, testResults, testExecError }) {
    const file = path.relative(this.#root, testFilePath);
    if (testExecError !== undefined) return [`  ${file}`];
    return testResults
      .filter(({ status }) => status === "failed")
      .map(({ fullName, failureMessages }) => {
        const seed = SEED.exec(failureMessages.join("\n"))?.[1];
        return `  ${file} › ${fullName}${seed === undefined ? "" : ` (FC_SEED=${seed})`}`;
      });
  }
}
