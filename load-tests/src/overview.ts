/** The overview of a run: tsgi and well-known frameworks in one table, and the cases in which tsgi is slower. @module */
import { isBare } from "./contests.js";
import type { Comparison } from "./pairs/measure.js";
import type { Published } from "./published.js";
import { isSettled } from "./settled.js";
import type { PairedSection } from "./settings.js";
import { formatRatio, formatTable } from "./table.js";
import { formatInterval, TABLES } from "./tables.js";

const FRAMEWORKS = ["Fastify", "Hono", "Express"];
const ROUTES: readonly (readonly [route: string, title: string])[] = [
  ["GET /users/{id}", "`GET /users/{id}`"],
  ["POST /users", "`POST /users`, validated body"],
];

/** The comparisons of a section. */
export function comparisonsIn({ sections }: Published, section: PairedSection): readonly Comparison[] {
  return sections[section]?.comparisons ?? [];
}

/** The settled ratios to well-known frameworks, with a sentence on the result, and one on other runtimes. */
export function overviewTable(published: Published): string {
  const measured = comparisonsIn(published, "http").filter(
    ({ theirs, row }) => FRAMEWORKS.includes(theirs) && ROUTES.some(([route]) => route === row),
  );
  if (measured.length === 0) return "Not measured in this run.";
  const shown = measured.filter(isSettled);
  if (shown.length === 0)
    return "The intervals of the ratios to Fastify, Hono and Express are wider than ±5 %: measure again.";
  const frameworks = FRAMEWORKS.filter((name) => shown.some(({ theirs }) => theirs === name));
  const routes = ROUTES.filter(([route]) => shown.some(({ row }) => row === route));
  const version = published.machine.node.replace(/^v/, "").split(".")[0] ?? "";
  const table = formatTable(
    [`tsgi on Node.js ${version} is faster by`, ...frameworks],
    routes.map(([route, title]) => [
      title,
      ...frameworks.map((name) => formatInterval(shown.find(({ theirs, row }) => theirs === name && row === route))),
    ]),
  );
  return [table, verdictOf(shown), ...onRuntimes(published)].join("\n\n");
}

/** A sentence on all cells of the table. */
function verdictOf(comparisons: readonly Comparison[]): string {
  const faster = comparisons.filter(({ low }) => low > 1).length;
  const slower = comparisons.filter(isSlower).length;
  const result =
    faster === comparisons.length
      ? "tsgi is the fastest in each row."
      : `tsgi is faster in ${faster} of ${comparisons.length} comparisons, and slower in ${slower}.`;
  return `${result} 1.5× means that tsgi serves 1.5 times as many requests per second of CPU time. In parentheses is the 95 % interval.`;
}

/** A sentence on the other runtimes: their own servers are written in native code. */
function onRuntimes(published: Published): string[] {
  const clauses = (["bun", "deno"] as const).flatMap((section) => {
    const title = TABLES.find((table) => table.section === section)?.title ?? section;
    const settled = comparisonsIn(published, section).filter((one) => one.ours === "tsgi app.fetch" && isSettled(one));
    return settled.length === 0
      ? []
      : [`on ${title}, \`app.fetch\` has ${rangeOf(settled)} the speed of Hono and Elysia`];
  });
  const text = clauses.join(", and ");
  return text === "" ? [] : [`${text.charAt(0).toUpperCase()}${text.slice(1)}.`];
}

/** Per section, the frameworks and programs that are faster than tsgi: only where the whole interval is below 1. */
export function slowerList(published: Published): string {
  const lines = TABLES.flatMap(({ section, title }) => lineOf(title, comparisonsIn(published, section)));
  return lines.length === 0 ? "The runs show no case in which tsgi is slower." : lines.join("\n");
}

/** True if the whole interval shows that tsgi is slower. */
export function isSlower({ high, ratios }: Comparison): boolean {
  return high < 1 && ratios.length > 1;
}

function lineOf(title: string, comparisons: readonly Comparison[]): string[] {
  const others = comparisons.filter(({ theirs }) => !theirs.startsWith("tsgi "));
  const first = comparisons[0]?.ours;
  const nameOf = (one: Comparison): string =>
    `${one.theirs}${isBare(one.theirs) ? " (no framework)" : ""}${one.ours === first ? "" : ` compared with ${one.ours}`}`;
  const slower = others.filter(isSlower);
  const parts = [...new Set(slower.map(nameOf))].map((name) => {
    const own = slower.filter((one) => nameOf(one) === name);
    const total = others.filter((one) => nameOf(one) === name).length;
    return `${name} in ${own.length} of ${total} rows (${rangeOf(own)})`;
  });
  return parts.length === 0 ? [] : [`- **${title}**: ${parts.join(", ")}`];
}

function rangeOf(comparisons: readonly Comparison[]): string {
  const ratios = comparisons.map(({ ratio }) => ratio);
  const [least, most] = [formatRatio(Math.min(...ratios)), formatRatio(Math.max(...ratios))];
  return least === most ? least : `${least} to ${most}`;
}
