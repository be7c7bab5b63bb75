/**
 * `make bench-overlap RUN=one.json,other.json`: prints in what share of the rows the intervals of two runs overlap, and
 * the rows in which they do not. Exits with status 1 if the share is below 95 %.
 *
 * @module
 */
import { runFiles } from "./paths.js";
import type { Comparison } from "./pairs/measure.js";
import { entriesOf, type Published, readRun } from "./published.js";
import { isSettled } from "./settled.js";
import { formatTable } from "./table.js";
import { formatInterval } from "./tables.js";

const WANTED = 0.95;

/** The rows that two runs have in common, as a table, and the share that overlaps. */
export function overlapOf(one: Published, other: Published): { readonly text: string; readonly share: number } {
  const rows = new Map(namedRows(other));
  const both = namedRows(one).flatMap(([name, left]) => {
    const right = rows.get(name);
    return right === undefined || Math.min(left.ratios.length, right.ratios.length) < 2 ? [] : [{ name, left, right }];
  });
  const apart = both.filter(({ left, right }) => left.low > right.high || right.low > left.high);
  const settled = both.filter(({ left, right }) => isSettled(left) && isSettled(right));
  const share = 1 - apart.length / Math.max(1, both.length);
  const line = `The intervals of ${both.length - apart.length} of ${both.length} rows overlap (${(share * 100).toFixed(1)} %). In ${settled.length}, both are within ±5 %.`;
  const table = formatTable(
    ["apart", "one run", "the other"],
    apart.map(({ name, left, right }) => [name, formatInterval(left), formatInterval(right)]),
  );
  return { share, text: apart.length === 0 ? line : `${line}\n\n${table}` };
}

function namedRows(run: Published): [string, Comparison][] {
  return entriesOf(run).flatMap(([section, { comparisons }]) =>
    comparisons.map((one): [string, Comparison] => [`${section} / ${one.ours} : ${one.theirs} / ${one.row}`, one]),
  );
}

if (process.argv[1]?.endsWith("bench-overlap.js") === true) {
  const runs = await Promise.all(runFiles(process.env["RUN"]).map(readRun));
  const [one, other] = runs;
  if (one === undefined || other === undefined) throw new Error("Expected two runs: RUN=one.json,other.json");
  const { text, share } = overlapOf(one, other);
  process.stdout.write(`${text}\n`);
  process.exitCode = share < WANTED ? 1 : 0;
}
