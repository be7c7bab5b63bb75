/** Two builds of the framework, measured in pairs. @module */
import { calls, requests } from "../pairs/launches.js";
import { type Comparison, type Contest, measureInPairs } from "../pairs/measure.js";
import type { Sides } from "../pairs/slices.js";
import { readNames, readSeconds } from "../settings.js";
import type { Builds } from "./builds.js";
import { judge, type Verdict } from "./verdict.js";

const SECTIONS = ["direct", "routing", "http"] as const;

/** A section that can be compared. */
export type ComparedSection = (typeof SECTIONS)[number];

/** The settings of a comparison. */
export interface CompareSettings {
  /** A commit or tag, or `release` for the last one; `null` by default. */
  readonly base: string | null;
  readonly seconds: number;
  readonly sections: readonly ComparedSection[];
}

/** Reads `BASE`, `TIME` (seconds) and `ONLY`. @throws TypeError for an invalid value. */
export function readCompareSettings(environment: Readonly<Record<string, string | undefined>>): CompareSettings {
  const { BASE, TIME, ONLY } = environment;
  return { base: BASE || null, seconds: readSeconds(TIME, 600), sections: readNames(ONLY, SECTIONS) };
}

/** One row of the comparison. */
export interface Change extends Comparison {
  /** `direct / GET /health` */
  readonly name: string;
  readonly verdict: Verdict;
}

/** Launches before a row can have a verdict. */
const LAUNCHES = 8;

/** The contests of two builds: they have the same load tests, each with its framework. */
function contestsOf(sections: readonly ComparedSection[], { base, head }: Builds): Contest[] {
  const workload = { ours: head.workload, theirs: base.workload };
  const inEach = (path: string): Sides<URL> => ({
    ours: new URL(path, workload.ours),
    theirs: new URL(path, workload.theirs),
  });
  const { ours, theirs } = inEach("http/servers/tsgi.js");
  const client = { connections: 64, databaseUrl: null };
  const measured = {
    direct: () => calls("direct", inEach("direct/contenders/tsgi.js"), workload),
    routing: () => calls("routing", inEach("routing/contenders/tsgi.js"), workload),
    http: () => requests({ ours: { script: ours }, theirs: { script: theirs } }, client),
  };
  return sections.map((section) => ({ section, ours: "head", theirs: "base", ...measured[section]() }));
}

/**
 * Compares two builds until each row has a verdict or the time is up.
 *
 * @throws Error if a build sent a wrong response.
 */
export async function compareBuilds(
  sections: readonly ComparedSection[],
  builds: Builds,
  until: number,
  onLaunch: (section: string, number: number) => void,
): Promise<Change[]> {
  const outcomes = await measureInPairs(contestsOf(sections, builds), {
    until,
    isSettled: (row) => row.ratios.length >= LAUNCHES && judge(row) !== "unclear",
    onLaunch: ({ section }, number) => onLaunch(section, number),
  });
  const faults = outcomes.flatMap(({ fault }) => fault ?? []);
  if (faults.length > 0) throw new Error(faults.join("; "));
  return outcomes
    .flatMap(({ contest, comparisons }) => comparisons.map((one) => toChange(contest.section, one)))
    .toSorted((left, right) => left.ratio - right.ratio);
}

/** One row with its verdict. */
export function toChange(section: string, comparison: Comparison): Change {
  const verdict = comparison.ratios.length < LAUNCHES ? "too few launches" : judge(comparison);
  return { ...comparison, name: `${section} / ${comparison.row}`, verdict };
}
