/** The lines of the tables that show the price of types. @module */
import { compare, oursFor, ratioOf, worstFirst } from "../ratios.js";
import { type Result, rowsOf } from "../rounds.js";
import type { Summary } from "../statistics.js";
import { formatRatio, formatSpread } from "../table.js";

/** The columns. */
export const TYPES_COLUMNS: readonly string[] = ["", "", "processor time", "", "tsgi is", "memory", "instantiations"];

/** A line for each contender in each row; the row in which tsgi is slowest first. */
export function typesLines(results: readonly Result[]): string[][] {
  const comparisons = compare(results, () => 1, "perCPUSecond");
  return worstFirst(rowsOf(results), comparisons).flatMap((row) =>
    results.filter(({ rows }) => rows[row] !== undefined).map((result) => lineOf(results, result, row)),
  );
}

function lineOf(results: readonly Result[], { contender, rows }: Result, row: string): string[] {
  const { perCPUSecond: rate, cpuMs: cpu, memoryMiB, instantiations } = rows[row] ?? {};
  const our = oursFor(results, contender)?.rows[row]?.["perCPUSecond"];
  const show = (summary: Summary | undefined, toText: (figure: number) => string): string =>
    summary === undefined ? "–" : toText(summary.median);
  return [
    row,
    contender,
    show(cpu, (ms) => `${(ms / 1_000).toFixed(2)} s`),
    cpu === undefined || cpu.runs.length === 1 ? "" : formatSpread(cpu.spread),
    rate === undefined || our === undefined ? "" : formatRatio(ratioOf(our, rate)),
    show(memoryMiB, (size) => `${size.toFixed(0)} MiB`),
    show(instantiations, (count) => count.toFixed(0)),
  ];
}
