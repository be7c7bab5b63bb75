/** The first screen of a page: the result in a sentence, and its ratios. @module */
import { escapeHTML, type Range, rangeChart } from "./charts.js";
import { compare, type Comparison, extremes, FLOOR, isBare } from "./ratios.js";
import type { Report } from "./history.js";
import { reasonsOf, worstOf } from "./machine.js";
import type { Section } from "./settings.js";
import { formatRatio } from "./table.js";

/** A comparison of a page: a section and one of its figures. */
export interface Contest {
  readonly section: Section;
  readonly figure: string;
  readonly title: string;
  /** Unit of the figures, and the better direction. */
  readonly unit: string;
  /** True where more is better, so that ours divided by theirs says how many times as fast ours is. */
  readonly isRate: boolean;
}

/** From this spread on, something else ran on the machine. */
const NOISY_SPREAD = 0.1;
/** A run with more than this share of such rows is noisy. */
const NOISY_SHARE = 0.25;

/** The sentence and the chart. The noise of a run comes before them; a quick run judges nothing. */
export function drawSummary(report: Report, contests: readonly Contest[]): string {
  const alarms = [quickAlarm(report), noiseAlarm(report, contests)].filter((text) => text !== "");
  const drawn = alarms.map((text) => `<p class="alarm">${escapeHTML(text)}</p>`).join("");
  if (report.settings.quick) return drawn;
  const firstOfSection = contests.filter(
    ({ section }, index) => contests.findIndex((other) => other.section === section) === index,
  );
  const ranges = firstOfSection.flatMap((contest) => rangesOf(report, contest));
  if (ranges.length === 0) return drawn;
  return `${drawn}<p class="result">${escapeHTML(toSentence(report, contests))}</p>
<p class="about">How many times as fast tsgi is, from its worst row to its best. Logarithmic scale; left of the line at 1× tsgi is slower.</p>${rangeChart(ranges)}`;
}

function quickAlarm({ settings }: Report): string {
  return settings.quick
    ? "A smoke test with QUICK=1: it shows that everything runs, and judges nothing. Its figures are not to be compared."
    : "";
}

function noiseAlarm(report: Report, contests: readonly Contest[]): string {
  const reasons = noiseOf(
    report,
    contests.filter(({ isRate }) => isRate),
  );
  return reasons.length === 0 ? "" : `This run is noisy: ${reasons.join(", and ")}. Measure again on an idle machine.`;
}

/** The reasons why the figures of a run are noisy, a clause each: the load, the watch of the machine, and the spreads. */
export function noiseOf(
  { machine, sections, disturbances }: Pick<Report, "machine" | "sections" | "disturbances">,
  contests: readonly Pick<Contest, "section" | "figure">[],
): string[] {
  const summaries = contests.flatMap(({ section, figure }) =>
    (sections[section] ?? []).flatMap(({ rows }) => Object.values(rows).flatMap((figures) => figures[figure] ?? [])),
  );
  // Two contests may share a figure.
  const spreads = [...new Set(summaries)].filter(({ runs }) => runs.length > 1).map(({ spread }) => spread);
  const wide = spreads.filter((spread) => spread > NOISY_SPREAD).length;
  return [
    machine.load > machine.cores / 2 ? `the load was ${machine.load.toFixed(1)} at the start` : "",
    ...reasonsOf(worstOf(Object.values(disturbances ?? {}))),
    wide > spreads.length * NOISY_SHARE ? `${wide} of ${spreads.length} figures spread over more than ±10 %` : "",
  ].filter((reason) => reason !== "");
}

/** With all but the floor, which nobody could serve with. */
function comparisonsOf({ sections }: Report, { section, figure, isRate }: Contest): Comparison[] {
  if (!isRate) return [];
  return compare(sections[section] ?? [], () => 1, figure).filter(({ contender }) => contender !== FLOOR);
}

/** By the first contest that compares with frameworks. */
function toSentence(report: Report, contests: readonly Contest[]): string {
  for (const contest of contests) {
    const all = comparisonsOf(report, contest);
    const beside = all.filter(({ contender }) => !isBare(contender));
    const ends = extremes(beside);
    if (ends === null) continue;
    const slower = beside.filter(({ ratio }) => ratio < 1).length;
    const bare = extremes(all.filter(({ contender }) => isBare(contender)));
    const besideBare = bare === null ? "" : ` Beside programs without a framework it is at worst ${side(bare.worst)}.`;
    return `${contest.title}, tsgi is at worst ${side(ends.worst)}, at best ${side(ends.best)}; slower in ${slower} of ${beside.length} comparisons with frameworks.${besideBare}`;
  }
  const [first] = contests.flatMap((contest) => comparisonsOf(report, contest));
  return first === undefined ? "" : "No peers were measured: the ratios are those to programs without a framework.";
}

function side({ ratio, contender, row }: Comparison): string {
  return `${formatRatio(ratio)} as fast as ${contender} in ${row}`;
}

/** One bar beside frameworks and one beside programs without one. */
function rangesOf(report: Report, contest: Contest): Range[] {
  const all = comparisonsOf(report, contest);
  const kinds = [
    ["theirs", "frameworks", all.filter(({ contender }) => !isBare(contender))],
    ["bare", "no framework", all.filter(({ contender }) => isBare(contender))],
  ] as const;
  return kinds.flatMap(([kind, name, comparisons]): Range[] => {
    const ends = extremes(comparisons);
    if (ends === null) return [];
    const note = `${formatRatio(ends.worst.ratio)} ${ends.worst.contender}, ${ends.worst.row} — ${formatRatio(ends.best.ratio)} ${ends.best.contender}`;
    const label = `${contest.title.replace(", by the server's processor time", "")}: ${name}`;
    return [{ label, kind: kind === "theirs" ? "ours" : "bare", low: ends.worst.ratio, high: ends.best.ratio, note }];
  });
}
