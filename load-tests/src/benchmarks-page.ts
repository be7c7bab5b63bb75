/** The figures of the documentation, as Markdown and as charts. @module */
import { barFigure, type Group, NARROW } from "./charts.js";
import { clientNotes, markOf, MARK_NOTE } from "./client-limit.js";
import {
  BARE_UWS,
  compare,
  type Comparison,
  extremes,
  FLOOR,
  isBare,
  kindOf,
  oursFor,
  ratioOf,
  TSGI_ON_UWS,
} from "./ratios.js";
import { isAccountRow } from "./database/accounts.js";
import { isPrismaRow } from "./database/prisma.js";
import { noiseOf } from "./page-summary.js";
import type { Published } from "./published.js";
import { type Result, rowsOf } from "./rounds.js";
import type { Section } from "./settings.js";
import { RUNTIME_TITLES } from "./runtimes.js";
import { BARE, IMPORT, PEER_IMPORTS, REGISTRATIONS, SERVER } from "./startup.js";
import { type Summary, uncertaintyOf } from "./statistics.js";
import { formatMarkdownTable, formatMs, formatRate, formatRatio, formatSpread } from "./table.js";
import { TYPES_COLUMNS, typesLines } from "./types/lines.js";
import { BUNDLE_COLUMNS, bundleLines } from "./web-bundle.js";

/** The row of a route that was measured with requests in flight behind each other bears this in its name. */
const PIPELINED = /, \d+ pipelined$/;

/** A comparison: the rows of a section, and one of their figures. */
interface Contest {
  readonly name: string;
  readonly section: Section;
  readonly figure: string;
  readonly has: (row: string) => boolean;
}

const CONTESTS: readonly Contest[] = [
  { name: "Over HTTP", section: "http", figure: "perSecond", has: (row) => !PIPELINED.test(row) },
  { name: "Over HTTP, pipelined", section: "http", figure: "perSecond", has: (row) => PIPELINED.test(row) },
  {
    name: "Over HTTP, by processor time",
    section: "http",
    figure: "perCPUSecond",
    has: (row) => !PIPELINED.test(row),
  },
  { name: "Direct calls", section: "direct", figure: "perSecond", has: () => true },
  { name: "Routing", section: "routing", figure: "perSecond", has: () => true },
];

const NOT_MEASURED = "Not measured in this run.";

const FRAMEWORK_ROUTES = new Set(["GET /users/{id}", "POST /users"]);

/** The blocks of the pages, by the name that stands in the comments around each. */
export function toBlocks(published: Published): Readonly<Record<string, string>> {
  const of = (section: Section): readonly Result[] => published.sections[section] ?? [];
  const isPlain = (row: string): boolean => !PIPELINED.test(row);
  return {
    "in one line": inOneLine(published),
    "measured on": measuredOn(published),
    extremes: extremesTable(published),
    http: ratesTable(of("http"), "perSecond", isPlain),
    "http, pipelined": ratesTable(of("http"), "perSecond", (row) => PIPELINED.test(row)),
    "http, processor time": ratesTable(of("http"), "perCPUSecond", isPlain),
    database: ratesTable(of("database"), "perCPUSecond", (row) => !isAccountRow(row) && !isPrismaRow(row)),
    "database, Prisma": ratesTable(of("database"), "perCPUSecond", (row) => !isAccountRow(row) && isPrismaRow(row)),
    "login and listing": ratesTable(of("database"), "perCPUSecond", isAccountRow),
    middleware: ratesTable(of("middleware"), "perCPUSecond"),
    payloads: ratesTable(of("payloads"), "perCPUSecond"),
    realtime: ratesTable(of("realtime"), "perCPUSecond", hasFigure(of("realtime"), "perCPUSecond")),
    "open connections": openTable(of("realtime")),
    ...runtimeBlocks(of("runtimes")),
    latency: latencyTable(of("latency")),
    direct: ratesTable(of("direct"), "perSecond"),
    routing: ratesTable(of("routing"), "perSecond"),
    footprint: footprintTable(of("footprint")),
    sample: sampleTable(of("sample")),
    startup: startupTable(of("startup")),
    bundle: formatMarkdownTable(BUNDLE_COLUMNS, bundleLines(of("bundle"))),
    types: typesTable(of("types")),
  };
}

/** The charts, by the name of the file. */
export function toFigures({ sections }: Published): Readonly<Record<string, string>> {
  const draw = (section: Section, title: string, unit: string): string =>
    barFigure(title, unit, groupsOf(sections[section] ?? []));
  const unit = (things: string): string => `${things} a second, more is better; the line below a bar is the spread`;
  return {
    "benchmark-http.svg": draw("http", "Over HTTP", unit("requests")),
    "benchmark-direct.svg": draw("direct", "Direct calls", unit("requests")),
    "benchmark-routing.svg": draw("routing", "Routing", unit("look-ups")),
    "benchmark-frameworks.svg": barFigure(
      "Requests a second over HTTP",
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
  const titles = rowsOf(results).filter((row) => !PIPELINED.test(row));
  return titles.map((title) => ({
    title,
    bars: results.flatMap(({ contender, rows }) => {
      const summary = rows[title]?.["perSecond"];
      return summary === undefined ? [] : [{ label: contender, kind: kindOf(results, contender), ...summary }];
    }),
  }));
}

/** A table for each runtime, whose name ends its rows: `GET /health, Bun`. */
function runtimeBlocks(results: readonly Result[]): Record<string, string> {
  return Object.fromEntries(
    RUNTIME_TITLES.map((title) => {
      const suffix = `, ${title}`;
      const own = results.map(({ rows, ...result }) => ({
        ...result,
        rows: Object.fromEntries(
          Object.entries(rows).flatMap(([row, figures]) =>
            row.endsWith(suffix) ? [[row.slice(0, -suffix.length), figures] as const] : [],
          ),
        ),
      }));
      const measured = own.filter(({ rows }) => Object.keys(rows).length > 0);
      return [`runtimes, ${title}`, ratesTable(measured, "perCPUSecond")];
    }),
  );
}

/** A route as code, anything else as it is. */
function toTitle(row: string): string {
  return row.replace(PIPELINED, "").replace(/^[A-Z]+ \/[^ ,]*/, "`$&`");
}

/** Tells the rows that have a figure. */
function hasFigure(results: readonly Result[], figure: string): (row: string) => boolean {
  return (row) => results.some(({ rows }) => rows[row]?.[figure] !== undefined);
}

/** Memory for each connection, and the processor time of all idle ones in a second. */
function openTable(results: readonly Result[]): string {
  const rows = rowsOf(results).filter(hasFigure(results, "connectionKiB"));
  if (rows.length === 0) return NOT_MEASURED;
  const cell = ({ connectionKiB, idleMs }: Readonly<Record<string, Summary>> = {}): string => {
    if (connectionKiB === undefined) return "–";
    const time = idleMs === undefined ? "" : ` · ${formatMs(idleMs.median)}`;
    return `${connectionKiB.median.toFixed(1)} KiB${time}`;
  };
  return formatMarkdownTable(
    ["", ...rows.map(toTitle)],
    results.map(({ contender, rows: own }) => [contender, ...rows.map((row) => cell(own[row]))]),
  );
}

/** With all but the floor: the tables have it, but nobody could serve with it. */
function comparisonsOf({ sections }: Published, { section, figure, has }: Contest): Comparison[] {
  return compare(sections[section] ?? [], () => 1, figure).filter(
    ({ contender, row }) => contender !== FLOOR && has(row),
  );
}

/** The worst and the best ratio, each with the server of tsgi that was measured: the two are not always the same one. */
function inOneLine(published: Published): string {
  const [overHTTP] = CONTESTS as readonly [Contest];
  const ends = extremes(comparisonsOf(published, overHTTP));
  if (ends === null) return provisional(published).join(" ");
  const side = ({ ratio, contender, row }: Comparison): string =>
    `${formatRatio(ratio)} the requests of ${contender} (${toTitle(row)})`;
  const server = ({ contender }: Comparison): string => (contender === BARE_UWS ? TSGI_ON_UWS : "`serve`");
  return [
    `Over HTTP, ${server(ends.worst)} has at worst ${side(ends.worst)}, and ${server(ends.best)} at best ${side(ends.best)}.`,
    ...provisional(published),
  ].join(" ");
}

/** A sentence where the figures of a run are not the last word. */
function provisional(published: Published): string[] {
  const reasons = [...(published.settings.quick ? ["the run was a quick one"] : []), ...noiseOf(published, CONTESTS)];
  return reasons.length === 0 ? [] : [`**These figures are provisional**: ${reasons.join(", and ")}.`];
}

function measuredOn(published: Published): string {
  const { started, machine, settings, peers } = published;
  const versions = Object.entries(peers).map(([name, version]) => `- \`${name}\` ${version}`);
  const rounds = (count: number): string => (count === 1 ? "one process each" : `the median of ${count} processes`);
  return [
    `${started.slice(0, 10)}, Node ${machine.node.replace(/^v/, "")}, ${machine.cores} cores of ${machine.cpu}, load ${machine.load.toFixed(1)} at the start.`,
    `Direct calls and routing: ${rounds(settings.rounds)}; over HTTP: ${rounds(settings.httpRounds)}, ${settings.http.connections} connections;`,
    `${formatRate(settings.requests)} requests and ${formatRate(settings.lookups)} look-ups each.`,
    ...provisional(published).flatMap((line) => ["", line]),
    "",
    "<details><summary>The versions of the others</summary>",
    "",
    ...versions,
    "",
    "</details>",
  ].join("\n");
}

function extremesTable(published: Published): string {
  const side = ({ ratio, contender, row }: Comparison): string => `${formatRatio(ratio)} ${contender}, ${toTitle(row)}`;
  const lines = CONTESTS.flatMap((contest) => {
    const comparisons = comparisonsOf(published, contest);
    const ends = extremes(comparisons);
    const slower = comparisons.filter(({ ratio }) => ratio < 1).length;
    const uncertainty = uncertaintyOf(comparisons.map(({ rounds }) => rounds));
    const within = uncertainty === null ? "–" : uncertainty.toFixed(2);
    return ends === null
      ? []
      : [[contest.name, side(ends.worst), side(ends.best), `${slower} of ${comparisons.length}`, within]];
  });
  return formatMarkdownTable(["tsgi is", "at worst", "at best", "slower in", "uncertain by"], lines);
}

/** The worst ratio, then one line a contender; in each cell its rate, half its spread, and how many times as fast ours is. */
function ratesTable(results: readonly Result[], figure: string, has = (_row: string): boolean => true): string {
  const rows = rowsOf(results).filter(has);
  if (rows.length === 0) return NOT_MEASURED;
  const cell = (result: Result, row: string): string => {
    const rate = result.rows[row]?.[figure];
    if (rate === undefined) return "–";
    const our = oursFor(results, result.contender)?.rows[row]?.[figure];
    const ratio = our === undefined ? "" : ` · ${formatRatio(ratioOf(our, rate))}`;
    const mark = markOf(result.rows[row] ?? {}, figure);
    return `${withSpread(formatRate(rate.median) + mark, rate)}${ratio}`;
  };
  const isMarked = results.some((result) => rows.some((row) => markOf(result.rows[row] ?? {}, figure) !== ""));
  const table = [
    formatMarkdownTable(
      ["", ...rows.map(toTitle)],
      results.map((result) => [result.contender, ...rows.map((row) => cell(result, row))]),
    ),
    ...(isMarked ? [`\\${MARK_NOTE}`] : []),
  ].join("\n\n");
  return `${atWorst(results, figure, (row) => rows.includes(row))}${table}`;
}

function atWorst(results: readonly Result[], figure: string, has: (row: string) => boolean): string {
  const ends = extremes(
    compare(results, () => 1, figure).filter(({ contender, row }) => contender !== FLOOR && has(row)),
  );
  if (ends === null) return "";
  const { ratio, contender, row } = ends.worst;
  return `At worst tsgi is ${formatRatio(ratio)} as fast as ${contender}: ${toTitle(row)}.\n\n`;
}

/** A figure of a single process has no spread. */
function withSpread(figure: string, { runs, spread }: Summary): string {
  return runs.length === 1 ? figure : `${figure} ${formatSpread(spread)}`;
}

function typesTable(results: readonly Result[]): string {
  const table = formatMarkdownTable(TYPES_COLUMNS, typesLines(results));
  return results.length === 0 ? NOT_MEASURED : `${atWorst(results, "perCPUSecond", () => true)}${table}`;
}

function latencyTable(results: readonly Result[]): string {
  const rows = rowsOf(results).filter((row) => results.some((result) => result.rows[row]?.["ratePerSecond"]));
  if (rows.length === 0) return NOT_MEASURED;
  const cell = ({ rows: own }: Result, row: string): string => {
    const figures = own[row];
    if (figures === undefined) return "–";
    const of = (name: string): number => figures[name]?.median ?? Number.NaN;
    const percentiles = [of("p50Ms"), of("p99Ms"), of("p99_9Ms")].map((ms) => Number(ms.toPrecision(2)));
    return [`${formatRate(of("ratePerSecond"))}: ${percentiles.join(" · ")} ms`, ...clientNotes(figures)].join(", ");
  };
  return formatMarkdownTable(
    ["", ...rows.map(toTitle)],
    results.map((result) => [result.contender, ...rows.map((row) => cell(result, row))]),
  );
}

function footprintTable(results: readonly Result[]): string {
  const cell = (summary: Summary | undefined, unit: string): string =>
    summary === undefined || summary.median === 0
      ? "–"
      : `${summary.median.toFixed(summary.median < 10 ? 1 : 0)} ${unit}`;
  return formatMarkdownTable(
    ["", "first answer", "after 10,000 requests", "on disk"],
    results.map(({ contender, rows: { footprint } }) => [
      contender,
      cell(footprint?.["startMs"], "ms"),
      cell(footprint?.["loadedMiB"], "MiB"),
      cell(footprint?.["installedMiB"], "MiB"),
    ]),
  );
}

function sampleTable(results: readonly Result[]): string {
  return formatMarkdownTable(
    ["", "requests a second", "p99"],
    results.flatMap(({ rows }) =>
      Object.entries(rows).map(([row, { perSecond, p99Ms }]) => [
        toTitle(row),
        perSecond === undefined ? "–" : withSpread(formatRate(perSecond.median), perSecond),
        p99Ms === undefined ? "–" : `${p99Ms.median} ms`,
      ]),
    ),
  );
}

function startupTable(results: readonly Result[]): string {
  const of = (contender: string, row: string): string[] => {
    const summary = results.find((result) => result.contender === contender)?.rows[row]?.["ms"];
    return summary === undefined ? [] : [withSpread(formatMs(summary.median), summary)];
  };
  const lines = (contenders: readonly string[], ...rows: readonly string[]): string[][] =>
    contenders.map((name) => [name, ...rows.flatMap((row) => of(name, row))]).filter(({ length }) => length > 1);
  return [
    formatMarkdownTable(["", "median"], lines([BARE, IMPORT, SERVER, ...Object.keys(PEER_IMPORTS)], "process")),
    formatMarkdownTable(["", "registered", "first answer"], lines(REGISTRATIONS, "registered", "first answer")),
  ].join("\n\n");
}
