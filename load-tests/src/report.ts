/** The report of a measuring process to its parent. @module */

/** The figures of one row, such as one route. */
export interface Row {
  readonly name: string;
  /** By the name of the figure, which bears its unit: `perSecond`, `startMs`. */
  readonly figures: Readonly<Record<string, number>>;
}

/** The result of one measuring process. */
export interface WorkerReport {
  readonly rows: readonly Row[];
  /** Each wrong response in one line. The results are valid only if it is empty. */
  readonly faults: readonly string[];
}

/** Prints a report as the last line of a measuring process. */
export function printReport(report: WorkerReport): void {
  process.stdout.write(`${JSON.stringify(report)}\n`);
}

/**
 * Reads the report from the output of a measuring process.
 *
 * @throws TypeError if its last line is not a report.
 */
export function parseReport(output: string): WorkerReport {
  const line = output.trimEnd().split("\n").at(-1) ?? "";
  const value: unknown = JSON.parse(line);
  if (!isReport(value)) throw new TypeError(`Expected a report, got ${line.slice(0, 200)}`);
  return value;
}

function isReport(value: unknown): value is WorkerReport {
  return (
    isRecord(value) &&
    Array.isArray(value["faults"]) &&
    value["faults"].every((fault) => typeof fault === "string") &&
    Array.isArray(value["rows"]) &&
    value["rows"].every(isRow)
  );
}

function isRow(value: unknown): value is Row {
  return (
    isRecord(value) &&
    typeof value["name"] === "string" &&
    isRecord(value["figures"]) &&
    Object.values(value["figures"]).every(Number.isFinite)
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
