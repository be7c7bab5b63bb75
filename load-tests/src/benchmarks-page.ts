/** The figures of the documentation, as Markdown and as charts. @module */
import { barFigure, type Group, NARROW } from "./charts.js";
import { isBare } from "./contests.js";
import { reasonsOf, worstOf } from "./machine.js";
import { comparisonsIn, isSlower, overviewTable, slowerList } from "./overview.js";
import type { Comparison } from "./pairs/measure.js";
import { entriesOf, type Published } from "./published.js";
import { isSettled } from "./settled.js";
import type { PairedSection } from "./settings.js";
import { formatRatio, formatTable } from "./table.js";
import { ratiosTable, TABLES, toTitle } from "./tables.js";

const FRAMEWORK_ROUTES = new Set(["GET /users/{id}", "POST /users"]);

/** The blocks of the pages, by the name in the comments around each. */
export function toBlocks(published: Published): Readonly<Record<string, string>> {
  return {
    overview: overviewTable(published),
    slower: slowerList(published),
    "measured on": measuredOn(published),
    extremes: extremesTable(published),
    ...Object.fromEntries(TABLES.map(({ section }) => [section, ratiosTable(comparisonsIn(published, section))])),
  };
}

/** The charts, by the name of the file. */
export function toFigures(published: Published): Readonly<Record<string, string>> {
  const draw = (section: PairedSection, title: string, things: string): string =>
    barFigure(
      title,
      `${things} per second of CPU time, tsgi is 1; the line is the 95 % interval`,
      groupsOf(published, section),
    );
  const frameworks = groupsOf(published, "http", ({ theirs }) => !isBare(theirs) && !theirs.startsWith("tsgi "));
  return {
    "benchmark-http.svg": draw("http", "Over HTTP", "requests"),
    "benchmark-direct.svg": draw("direct", "Direct calls", "requests"),
    "benchmark-routing.svg": draw("routing", "Routing", "lookups"),
    "benchmark-frameworks.svg": barFigure(
      "Requests per second of CPU time",
      "tsgi is 1, more is better. The line is the 95 % interval.",
      frameworks.filter(({ title }) => FRAMEWORK_ROUTES.has(title)),
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

/** The speeds of the others, compared with the first of ours. */
function groupsOf(
  published: Published,
  section: PairedSection,
  has: (comparison: Comparison) => boolean = () => true,
): Group[] {
  const all = comparisonsIn(published, section);
  const ours = all[0]?.ours ?? "tsgi";
  const own = all.filter((one) => one.ours === ours && has(one));
  return [...new Set(own.map(({ row }) => row))].map((title) => ({
    title,
    bars: [
      { label: ours, kind: "ours" as const, median: 1, min: 1, max: 1 },
      ...own.filter(({ row }) => row === title).map(toBar),
    ],
  }));
}

function toBar({ theirs, ratio, low, high }: Comparison): Group["bars"][number] {
  const kind = theirs.startsWith("tsgi ") ? "ours" : isBare(theirs) ? "bare" : "theirs";
  return { label: theirs, kind, median: 1 / ratio, min: 1 / high, max: 1 / low };
}

function measuredOn(published: Published): string {
  const { machine, peers } = published;
  const sections = entriesOf(published).map(([, section]) => section);
  const runs = sections.flatMap((section) => section.runs);
  const days = [...new Set(runs.map(({ started }) => started.slice(0, 10)))].toSorted();
  const all = sections.flatMap(({ comparisons }) => comparisons);
  const reasons = reasonsOf(worstOf(runs.map(({ disturbance }) => disturbance)));
  return [
    `${days.join(" and ")}, Node ${machine.node.replace(/^v/, "")}, ${machine.cores} cores of ${machine.cpu}.`,
    `The interval of ${all.filter(isSettled).length} of ${all.length} ratios is within ±5 %.`,
    ...(reasons.length === 0 ? [] : ["", `During the runs, ${reasons.join(", and ")}.`]),
    "",
    "<details><summary>Versions of the other frameworks</summary>",
    "",
    ...Object.entries(peers).map(([name, version]) => `- \`${name}\` ${version}`),
    "",
    "</details>",
  ].join("\n");
}

/** Per section the lowest and the highest ratio, of settled ones. */
function extremesTable(published: Published): string {
  const side = ({ ratio, theirs, row }: Comparison): string => `${formatRatio(ratio)} ${theirs}, ${toTitle(row)}`;
  const lines = TABLES.flatMap(({ section, title }) => {
    const all = comparisonsIn(published, section);
    const settled = all.filter(isSettled).toSorted((left, right) => left.ratio - right.ratio);
    const [worst, best] = [settled[0], settled.at(-1)];
    if (worst === undefined || best === undefined) return [];
    return [[title, side(worst), side(best), `${all.filter(isSlower).length} of ${all.length}`, `${settled.length}`]];
  });
  return formatTable(["tsgi is", "at worst", "at best", "slower in", "settled rows"], lines);
}
