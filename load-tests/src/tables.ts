/** The tables of a run, for the terminal and for the page. @module */
import { MARK_NOTE, markOf } from "./client-limit.js";
import { isPrismaRow } from "./database/cases.js";
import { compare, type Comparison, isDecided, oursFor, ratioOf } from "./ratios.js";
import { type Result, rowsOf } from "./rounds.js";
import { RUNTIME_TITLES } from "./runtimes.js";
import type { Section } from "./settings.js";
import { type Summary, uncertaintyOf } from "./statistics.js";
import { formatRate, formatRatio, formatSpread, formatTable } from "./table.js";

/** The row of a route that was measured with requests in flight behind each other bears this in its name. */
const PIPELINED = /, \d+ pipelined$/;

/** True for a row that was measured pipelined. */
export function isPipelined(row: string): boolean {
  return PIPELINED.test(row);
}

/** One table of a section. */
export interface Table {
  /** The name in the comments around it on the page. */
  readonly name: string;
  readonly section: Section;
  /** The unit of its figures, where all have the same. */
  readonly unit?: string;
  readonly draw: (results: readonly Result[]) => string;
  /** The title of its comparisons, such as `Bun`. */
  readonly title: string;
  readonly comparisons: (results: readonly Result[]) => readonly Comparison[];
}

const NOT_MEASURED = "Not measured in this run.";

const PER_CPU_SECOND = "requests per second of server CPU time";

const all = (): boolean => true;
const isPlain = (row: string): boolean => !isPipelined(row);

/** The tables of all sections, in their order. */
export const TABLES: readonly Table[] = [
  rates("direct", "direct", "Direct calls", "perSecond", all),
  rates("routing", "routing", "Routing", "perSecond", all),
  rates("http", "http", "Over HTTP", "perSecond", isPlain),
  rates("http", "http, pipelined", "Over HTTP, pipelined", "perSecond", isPipelined),
  rates("http", "http, processor time", "Over HTTP, by processor time", "perCPUSecond", isPlain),
  rates("database", "database", "PostgreSQL with `pg`", "perCPUSecond", (row) => !isPrismaRow(row)),
  rates("database", "database, Prisma", "PostgreSQL with Prisma", "perCPUSecond", isPrismaRow),
  ...RUNTIME_TITLES.map((title): Table => {
    const table = rates("runtimes", `runtimes, ${title}`, title, "perCPUSecond", all);
    return {
      ...table,
      draw: (results) => table.draw(resultsOn(title, results)),
      comparisons: (results) => table.comparisons(resultsOn(title, results)),
    };
  }),
  {
    name: "footprint",
    section: "footprint",
    title: "Startup and memory",
    draw: footprintTable,
    comparisons: () => [],
  },
];

function rates(section: Section, name: string, title: string, figure: string, has: (row: string) => boolean): Table {
  const unit = figure === "perSecond" ? `${section === "routing" ? "lookups" : "requests"} per second` : PER_CPU_SECOND;
  return {
    name,
    section,
    unit,
    title,
    draw: (results) => ratesTable(results, figure, has),
    comparisons: (results) => comparisonsOf(results, figure, has),
  };
}

/** The results on one runtime, whose name ends its rows: `GET /health, Bun`. */
function resultsOn(title: string, results: readonly Result[]): Result[] {
  const suffix = `, ${title}`;
  const own = results.map(({ rows, ...result }) => ({
    ...result,
    rows: Object.fromEntries(
      Object.entries(rows).flatMap(([row, figures]) =>
        row.endsWith(suffix) ? [[row.slice(0, -suffix.length), figures] as const] : [],
      ),
    ),
  }));
  return own.filter(({ rows }) => Object.keys(rows).length > 0);
}

/** A route as code, anything else as it is. */
export function toTitle(row: string): string {
  return row.replace(PIPELINED, "").replace(/^[A-Z]+ \/[^ ,]*/, "`$&`");
}

/** The comparisons of a figure in some rows. */
export function comparisonsOf(
  results: readonly Result[],
  figure: string,
  has: (row: string) => boolean,
): readonly Comparison[] {
  return compare(results, figure).filter(({ row }) => has(row));
}

/** One line per framework; in each cell its rate, half its spread, and how many times as fast ours is, if the runs can decide that. */
function ratesTable(results: readonly Result[], figure: string, has: (row: string) => boolean): string {
  const rows = rowsOf(results).filter(has);
  if (rows.length === 0) return NOT_MEASURED;
  const uncertainty = uncertaintyOf(comparisonsOf(results, figure, has).map(({ rounds }) => rounds));
  const cell = (result: Result, row: string): string => {
    const rate = result.rows[row]?.[figure];
    if (rate === undefined) return "–";
    const our = oursFor(results, result.contender)?.rows[row]?.[figure];
    const ratio = our === undefined ? "" : ` · ${verdictOn(ratioOf(our, rate), uncertainty)}`;
    const mark = markOf(result.rows[row] ?? {}, figure);
    return `${withSpread(formatRate(rate.median) + mark, rate)}${ratio}`;
  };
  const isMarked = results.some((result) => rows.some((row) => markOf(result.rows[row] ?? {}, figure) !== ""));
  const nameOf = ({ contender, faults }: Result): string => (faults.length === 0 ? contender : `${contender} (wrong)`);
  const table = formatTable(
    ["", ...rows.map(toTitle)],
    results.map((result) => [nameOf(result), ...rows.map((row) => cell(result, row))]),
  );
  return [
    table,
    ...(isMarked ? [`\\${MARK_NOTE}`] : []),
    ...(table.includes(UNDECIDED) && uncertainty !== null ? [undecidedNote(uncertainty)] : []),
  ].join("\n\n");
}

const UNDECIDED = "undecided";

/** A ratio, unless its uncertainty contains 1: then the runs cannot tell which of the two is faster. */
function verdictOn(ratio: number, uncertainty: number | null): string {
  return isDecided(ratio, uncertainty) ? formatRatio(ratio) : UNDECIDED;
}

function undecidedNote(uncertainty: number): string {
  return `_undecided_: the runs cannot show which is faster, because a ratio of this table is uncertain by a factor of ${uncertainty.toFixed(2)}.`;
}

/** A figure of a single process has no spread. */
function withSpread(figure: string, { runs, spread }: Summary): string {
  return runs.length === 1 ? figure : `${figure} ${formatSpread(spread)}`;
}

function footprintTable(results: readonly Result[]): string {
  const cell = (summary: Summary | undefined, unit: string): string =>
    summary === undefined || summary.median === 0 ? "–" : `${summary.median.toFixed(0)} ${unit}`;
  return formatTable(
    ["", "first response", "memory after 10,000 requests"],
    results.map(({ contender, rows: { footprint } }) => [
      contender,
      cell(footprint?.["startMs"], "ms"),
      cell(footprint?.["loadedMiB"], "MiB"),
    ]),
  );
}
