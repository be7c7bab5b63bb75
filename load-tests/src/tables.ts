/** The tables of a run, for the terminal and for the page. @module */
import type { Comparison } from "./pairs/measure.js";
import { type Result, rowsOf } from "./rounds.js";
import { isSettled, LAUNCHES } from "./settled.js";
import type { PairedSection } from "./settings.js";
import { median } from "./statistics.js";
import { formatRate, formatRatio, formatSpread, formatTable } from "./table.js";

/** The table of a section. */
export interface Table {
  readonly section: PairedSection;
  /** The title of its comparisons, such as `Bun`. */
  readonly title: string;
}

/** The sections, in the order of the page. */
export const TABLES: readonly Table[] = [
  { section: "http", title: "Over HTTP" },
  { section: "pg", title: "PostgreSQL with `pg`" },
  { section: "prisma", title: "PostgreSQL with Prisma" },
  { section: "bun", title: "Bun" },
  { section: "deno", title: "Deno" },
  { section: "node26", title: "Node 26" },
  { section: "direct", title: "Direct calls" },
  { section: "routing", title: "Routing" },
  { section: "start", title: "Startup and memory" },
];

/** A route as code, anything else as it is. */
export function toTitle(row: string): string {
  return row.replace(/^[A-Z]+ \/[^ ,]*/, "`$&`");
}

const NOT_MEASURED = "Not measured in this run.";

/** Marks a ratio whose interval is wider than ±5 %. */
const MARK = "?";

/** One line per pair: in each cell the ratio with its interval. The first lines are the costs of ours, for orientation. */
export function ratiosTable(comparisons: readonly Comparison[]): string {
  if (comparisons.length === 0) return NOT_MEASURED;
  const rows = [...new Set(comparisons.map(({ row }) => row))];
  const ours = [...new Set(comparisons.map((comparison) => comparison.ours))];
  const pairs = [...new Set(comparisons.map(pairOf))];
  const find = (pair: string, row: string) => comparisons.find((one) => pairOf(one) === pair && one.row === row);
  const costs = ours.map((name) => {
    const costsOf = (row: string) => comparisons.filter((one) => one.ours === name && one.row === row);
    return [`_${name}_`, ...rows.map((row) => `_${formatCost(costsOf(row), row)}_`)];
  });
  const isOnly = ours.length === 1;
  const drawn = formatTable(
    ["", ...rows.map(toTitle)],
    [
      ...costs,
      ...pairs.map((pair) => [
        isOnly ? pair.replace(/^.* : /, "") : pair.replace(" : ", " / "),
        ...rows.map((row) => formatInterval(find(pair, row))),
      ]),
    ],
  );
  return drawn.includes(MARK)
    ? `${drawn}\n\n\\${MARK} The interval is wider than ±5 %, or there were less than ${LAUNCHES} launches.`
    : drawn;
}

function pairOf({ ours, theirs }: Comparison): string {
  return `${ours} : ${theirs}`;
}

/** The median of the cost of ours: each pair has measured it. */
function formatCost(comparisons: readonly Comparison[], row: string): string {
  if (comparisons.length === 0) return "–";
  const cost = median(comparisons.map((one) => one.cost.ours));
  return `${Number(cost.toPrecision(3))} ${/, (\w+)$/.exec(row)?.[1] ?? "µs"}`;
}

/** A ratio with its interval: `1.43× (1.40–1.46)`. */
export function formatInterval(comparison: Comparison | undefined): string {
  if (comparison === undefined) return "–";
  const { ratio, low, high } = comparison;
  const [from, to] = [low, high].map((limit) => formatRatio(limit).slice(0, -1));
  return `${formatRatio(ratio)} (${from}–${to})${isSettled(comparison) ? "" : MARK}`;
}

/** One line per program of the reference protocol: in each cell its rate and half its spread. */
export function ratesTable(results: readonly Result[]): string {
  const rows = rowsOf(results);
  return formatTable(
    ["", ...rows.map(toTitle)],
    results.map(({ contender, rows: own, faults }) => [
      faults.length === 0 ? contender : `${contender} (wrong)`,
      ...rows.map((row) => {
        const rate = own[row]?.["perSecond"];
        return rate === undefined ? "–" : `${formatRate(rate.median)} ${formatSpread(rate.spread)}`;
      }),
    ]),
  );
}

/** One line per route of a server under load: its rate and its latency. */
export function loadTable(results: readonly Result[]): string {
  return formatTable(
    ["", "requests/s", "latency, median", "99 %"],
    results.flatMap(({ rows }) =>
      Object.entries(rows).map(([row, { perSecond, p50, p99 }]) => [
        toTitle(row),
        perSecond === undefined ? "–" : formatRate(perSecond.median),
        ...[p50, p99].map((latency) => (latency === undefined ? "–" : `${latency.median} ms`)),
      ]),
    ),
  );
}
