/** The figures of the documentation, as Markdown and as charts. @module */
import { barFigure, type Group, NARROW } from "./charts.js";
import { reasonsOf, worstOf } from "./machine.js";
import { overviewTable, slowerList } from "./overview.js";
import type { Published } from "./published.js";
import { type Comparison, extremes, isBare, kindOf, TSGI_ON_UWS } from "./ratios.js";
import { type Result, rowsOf } from "./rounds.js";
import type { Section } from "./settings.js";
import { uncertaintyOf } from "./statistics.js";
import { formatRate, formatRatio, formatTable } from "./table.js";
import { comparisonsOf, isPipelined, TABLES, toTitle } from "./tables.js";

/** A comparison: the rows of a section, and one of their figures. */
interface Contest {
  readonly name: string;
  readonly section: Section;
  readonly figure: string;
  readonly has: (row: string) => boolean;
}

const isPlain = (row: string): boolean => !isPipelined(row);

const OVER_HTTP: Contest = { name: "Over HTTP", section: "http", figure: "perSecond", has: isPlain };

const CONTESTS: readonly Contest[] = [
  OVER_HTTP,
  { name: "Over HTTP, pipelined", section: "http", figure: "perSecond", has: isPipelined },
  { name: "Over HTTP, by processor time", section: "http", figure: "perCPUSecond", has: isPlain },
  { name: "Direct calls", section: "direct", figure: "perSecond", has: () => true },
  { name: "Routing", section: "routing", figure: "perSecond", has: () => true },
];

const FRAMEWORK_ROUTES = new Set(["GET /users/{id}", "POST /users"]);

/** From this spread on, something else ran on the machine. */
const NOISY_SPREAD = 0.1;
/** A run with more than this share of such figures is noisy. */
const NOISY_SHARE = 0.25;

/** The blocks of the pages, by the name in the comments around each. */
export function toBlocks(published: Published): Readonly<Record<string, string>> {
  const tables = TABLES.map(({ name, section, draw }) => [name, draw(published.sections[section] ?? [])] as const);
  return {
    overview: [overviewTable(published), ...provisional(published)].join("\n\n"),
    slower: slowerList(published),
    "measured on": measuredOn(published),
    extremes: extremesTable(published),
    ...Object.fromEntries(tables),
  };
}

/** The charts, by the name of the file. */
export function toFigures({ sections }: Published): Readonly<Record<string, string>> {
  const draw = (section: Section, title: string, unit: string): string =>
    barFigure(title, unit, groupsOf(sections[section] ?? []));
  const unit = (things: string): string => `${things} per second, more is better; the line below a bar is the spread`;
  return {
    "benchmark-http.svg": draw("http", "Over HTTP", unit("requests")),
    "benchmark-direct.svg": draw("direct", "Direct calls", unit("requests")),
    "benchmark-routing.svg": draw("routing", "Routing", unit("lookups")),
    "benchmark-frameworks.svg": barFigure(
      "Requests per second over HTTP",
      "More is better. The line below a bar is the spread.",
      groupsOf((sections.http ?? []).filter(({ contender }) => !isBare(contender) && contender !== TSGI_ON_UWS)).filter(
        ({ title }) => FRAMEWORK_ROUTES.has(title),
      ),
      NARROW,
    ),
  };
}

/**
 * Puts each block between its two comments.
 *
 * @throws Error for an unknown block.
 */
export function fillIn(text: string, blocks: Readonly<Record<string, string>>): string {
  return text.replaceAll(
    /(<!-- figures: (.+?) -->\n)[^]*?(<!-- end of figures -->)/g,
    (_block, start: string, name: string, end: string) => {
      const block = blocks[name];
      if (block === undefined) {
        throw new Error(`Unknown figures "${name}": write one of ${Object.keys(blocks).join(", ")}.`);
      }
      return `${start}\n${block}\n\n${end}`;
    },
  );
}

function groupsOf(results: readonly Result[]): Group[] {
  return rowsOf(results)
    .filter(isPlain)
    .map((title) => ({
      title,
      bars: results.flatMap(({ contender, rows }) => {
        const summary = rows[title]?.["perSecond"];
        return summary === undefined ? [] : [{ label: contender, kind: kindOf(results, contender), ...summary }];
      }),
    }));
}

function comparisonsIn({ sections }: Published, { section, figure, has }: Contest): readonly Comparison[] {
  return comparisonsOf(sections[section] ?? [], figure, has);
}

/** A sentence where the figures of a run are not the last word. */
function provisional(published: Published): string[] {
  const reasons = [...(published.settings.quick ? ["the run was a quick one"] : []), ...noiseOf(published)];
  return reasons.length === 0 ? [] : [`**These results are provisional**: ${reasons.join(", and ")}.`];
}

/** The reasons why the figures of a run are noisy, a clause each: the load, the watch of the machine, and the spreads. */
function noiseOf({ machine, sections, disturbances }: Published): string[] {
  const summaries = CONTESTS.flatMap(({ section, figure }) =>
    (sections[section] ?? []).flatMap(({ rows }) => Object.values(rows).flatMap((figures) => figures[figure] ?? [])),
  );
  // Two contests may share a figure.
  const spreads = [...new Set(summaries)].filter(({ runs }) => runs.length > 1).map(({ spread }) => spread);
  const wide = spreads.filter((spread) => spread > NOISY_SPREAD).length;
  return [
    machine.load > machine.cores / 2 ? `the load was ${machine.load.toFixed(1)} at the start` : "",
    ...reasonsOf(worstOf(Object.values(disturbances))),
    wide > spreads.length * NOISY_SHARE
      ? `${wide} of all ${spreads.length} results varied by more than ±10 % between the runs`
      : "",
  ].filter((reason) => reason !== "");
}

function measuredOn(published: Published): string {
  const { started, machine, settings, peers } = published;
  const versions = Object.entries(peers).map(([name, version]) => `- \`${name}\` ${version}`);
  const rounds = (count: number): string => (count === 1 ? "one process each" : `the median of ${count} processes`);
  return [
    `${started.slice(0, 10)}, Node ${machine.node.replace(/^v/, "")}, ${machine.cores} cores of ${machine.cpu}, load ${machine.load.toFixed(1)} at the start.`,
    `Direct calls and routing: ${rounds(settings.rounds)}; over HTTP: ${rounds(settings.http.rounds)}, ${settings.http.connections} connections;`,
    `${formatRate(settings.requests)} requests and ${formatRate(settings.lookups)} lookups each.`,
    ...provisional(published).flatMap((line) => ["", line]),
    "",
    "<details><summary>Versions of the other frameworks</summary>",
    "",
    ...versions,
    "",
    "</details>",
  ].join("\n");
}

function extremesTable(published: Published): string {
  const side = ({ ratio, contender, row }: Comparison): string => `${formatRatio(ratio)} ${contender}, ${toTitle(row)}`;
  const lines = CONTESTS.flatMap((contest) => {
    const comparisons = comparisonsIn(published, contest);
    const ends = extremes(comparisons);
    const slower = comparisons.filter(({ ratio }) => ratio < 1).length;
    const uncertainty = uncertaintyOf(comparisons.map(({ rounds }) => rounds));
    const within = uncertainty === null ? "–" : uncertainty.toFixed(2);
    return ends === null
      ? []
      : [[contest.name, side(ends.worst), side(ends.best), `${slower} of ${comparisons.length}`, within]];
  });
  return formatTable(["tsgi is", "at worst", "at best", "slower in", "uncertain by"], lines);
}
