/** Prints the closing line `N passed, N failed, N skipped` that continuous integration reads. */
export default class SummaryReporter {
  onRunComplete(_contexts, results) {
    const broken = results.testResults.filter((file) => file.testExecError || file.failureMessage).length;
    const failed = Math.max(results.numFailedTests, results.success ? 0 : broken || 1);
    const skipped = results.numPendingTests + results.numTodoTests;
    process.stderr.write(`\n${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`);
  }
}
