import { writeFileSync } from "node:fs";

/**
 * Prints the closing line `N passed, N failed, N skipped`, and writes it to the file that TEST_SUMMARY names, for those
 * who need it after everything else. A file that could not run, or left something running, counts as one failed test.
 */
export default class SummaryReporter {
  #watching;

  constructor({ watch, watchAll }) {
    this.#watching = watch || watchAll;
  }

  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const line = `${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`;
    process.stderr.write(`\n${line}`);
    if (process.env.TEST_SUMMARY) {
      writeFileSync(process.env.TEST_SUMMARY, line);
    }
    if (!this.#watching) {
      // This timer keeps nothing alive: it fires only when a test file that ran in this very process has left something.
      setTimeout(() => process.exit(1), 5000).unref();
    }
  }
}
