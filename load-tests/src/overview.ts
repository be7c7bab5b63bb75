/** The overview of a run: tsgi and well-known frameworks in one table, and the cases in which tsgi is slower. @module */
import type { Published } from "./published.js";
import { type Comparison, isBare, isDecided } from "./ratios.js";
import { uncertaintyOf } from "./statistics.js";
import { formatRate, formatRatio, formatTable } from "./table.js";
import { comparisonsOf, isPipelined, type Table, TABLES } from "./tables.js";

const FRAMEWORKS = ["Fastify", "Hono", "Express"];
const ROUTES: readonly (readonly [route: string, title: string])[] = [
  ["GET /users/{id}", "`GET /users/{id}`"],
  ["POST /users", "`POST /users`, validated body"],
];
const FIGURE = "perCPUSecond";

/** Requests per second of processor time, which a busy load generator does not limit, with a sentence on the result. */
export function overviewTable({ machine, sections }: Published): string {
  const results = sections.http ?? [];
  const [ours] = results;
  const shown = results.filter(({ contender }) => FRAMEWORKS.includes(contender));
  if (ours === undefined || shown.length === 0) return "Not measured in this run.";
  const rate = (contender: string, route: string): string => {
    const summary = results.find((result) => result.contender === contender)?.rows[route]?.[FIGURE];
    return summary === undefined ? "–" : formatRate(summary.median);
  };
  const table = formatTable(
    [
      `Requests per second of CPU time, Node.js ${machine.node.replace(/^v/, "").split(".")[0] ?? ""}`,
      "tsgi",
      ...shown.map(({ contender }) => contender),
    ],
    ROUTES.map(([route, title]) => [
      title,
      rate(ours.contender, route),
      ...shown.map(({ contender }) => rate(contender, route)),
    ]),
  );
  const comparisons = comparisonsOf(results, FIGURE, (row) => !isPipelined(row));
  const uncertainty = uncertaintyOf(comparisons.map(({ rounds }) => rounds));
  const inTable = comparisons.filter(
    ({ contender, row }) => FRAMEWORKS.includes(contender) && ROUTES.some(([route]) => route === row),
  );
  return [table, verdictOf(inTable, uncertainty)].filter((part) => part !== "").join("\n\n");
}

/** A sentence on all cells of the table; empty without comparisons. */
function verdictOf(comparisons: readonly Comparison[], uncertainty: number | null): string {
  if (comparisons.length === 0) return "";
  const decided = comparisons.filter(({ ratio }) => isDecided(ratio, uncertainty));
  const slower = decided.filter(({ ratio }) => ratio < 1).length;
  const open = comparisons.length - decided.length;
  const precision =
    uncertainty === null
      ? ""
      : ` A ratio of two numbers in a row is accurate to ±${((uncertainty - 1) * 100).toFixed(0)} %.`;
  const result =
    slower === 0 && open === 0
      ? "tsgi is the fastest in both rows."
      : `tsgi is slower in ${slower} of ${comparisons.length} comparisons, and ${open} are undecided.`;
  return `${result}${precision}`;
}

/** Per table, the frameworks and programs that are faster than tsgi; only ratios that the runs can decide. */
export function slowerList({ sections }: Published): string {
  const inProcess = ({ section }: Table): boolean => section === "direct" || section === "routing";
  const tables = [...TABLES.filter((table) => !inProcess(table)), ...TABLES.filter(inProcess)];
  const lines = tables.flatMap((table) => lineOf(table, table.comparisons(sections[table.section] ?? [])));
  return lines.length === 0 ? "The runs show no case in which tsgi is slower." : lines.join("\n");
}

function lineOf({ title }: Table, comparisons: readonly Comparison[]): string[] {
  const uncertainty = uncertaintyOf(comparisons.map(({ rounds }) => rounds));
  const slower = comparisons.filter(
    ({ contender, ratio }) => !contender.startsWith("tsgi ") && ratio < 1 && isDecided(ratio, uncertainty),
  );
  const names = [...new Set(slower.map(({ contender }) => contender))];
  if (names.length === 0) return [];
  const parts = names.map((name) => {
    const ratios = slower.filter(({ contender }) => contender === name).map(({ ratio }) => ratio);
    const total = comparisons.filter(({ contender }) => contender === name).length;
    const [least, most] = [formatRatio(Math.min(...ratios)), formatRatio(Math.max(...ratios))];
    const range = least === most ? least : `${least} to ${most}`;
    return `${name}${isBare(name) ? " (no framework)" : ""} in ${ratios.length} of ${total} rows (${range})`;
  });
  return [`- **${title}**: ${parts.join(", ")}`];
}
