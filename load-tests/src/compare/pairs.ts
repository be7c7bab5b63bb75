/** Measures two builds in turns until each row is decided. @module */
import type { Row, WorkerReport } from "../report.js";
import { changeOf, type Interval, judge, type Pair, type Verdict } from "./interval.js";

/** One row of the comparison. */
export interface Change extends Interval {
  /** `direct / GET /health` */
  readonly name: string;
  readonly verdict: Verdict;
  readonly pairs: number;
}

/** The sides of a comparison. */
export type Side = "base" | "head";

/** The reports of both sides of one section. */
export type PairOfReports = Readonly<Record<Side, WorkerReport>>;

/** Measures both sides of one section once, in fresh processes. The number of the pair begins at 0. */
export type Measure = (pair: number) => Promise<PairOfReports>;

/** The end of a comparison. */
export interface Limits {
  /** Does not decide earlier: the interval of few pairs is too narrow. */
  readonly minimumPairs: number;
  /** No pair begins after it. */
  readonly until: number;
  /** Called before each pair. */
  readonly onPair?: (section: string, pair: number) => void;
}

/**
 * Responses per second of processor time, which a busy machine changes least; by the clock if the system does not
 * report it.
 */
function speedOf({ perCPUSecond, perSecond }: Row["figures"]): number | undefined {
  return perCPUSecond ?? perSecond;
}

/**
 * Measures each section in pairs until every row of it is decided or the time is up. A decided section passes its
 * remaining time to the others.
 *
 * @throws Error if a side sent a wrong response.
 */
export async function comparePairs(sections: Readonly<Record<string, Measure>>, limits: Limits): Promise<Change[]> {
  const rows = new Map<string, Pair[]>();
  const open = new Set(Object.keys(sections));
  for (let pair = 0; open.size > 0 && Date.now() < limits.until; pair++) {
    for (const section of open) {
      limits.onPair?.(section, pair);
      await measurePair(section, sections[section] as Measure, pair, rows);
      if (isDecided(section, rows, limits.minimumPairs)) open.delete(section);
      if (Date.now() >= limits.until) break;
    }
  }
  return [...rows]
    .map(([name, pairs]) => toChange(name, pairs, limits.minimumPairs))
    .toSorted((left, right) => left.estimate - right.estimate);
}

async function measurePair(section: string, measure: Measure, pair: number, rows: Map<string, Pair[]>): Promise<void> {
  const reports = await measure(pair);
  const figures: Record<Side, Map<string, number>> = { base: new Map(), head: new Map() };
  for (const side of ["base", "head"] as const) {
    const report = reports[side];
    if (report.faults.length > 0) throw new Error(`${side}: ${report.faults.join("; ")}`);
    for (const row of report.rows) figures[side].set(row.name, speedOf(row.figures) ?? 0);
  }
  for (const [name, base] of figures.base) {
    const head = figures.head.get(name) ?? 0;
    if (!(base > 0 && head > 0)) throw new Error(`${section} / ${name} has no figure on both sides.`);
    const row = `${section} / ${name}`;
    rows.set(row, [...(rows.get(row) ?? []), { base, head }]);
  }
}

function isDecided(section: string, rows: ReadonlyMap<string, readonly Pair[]>, minimumPairs: number): boolean {
  return [...rows]
    .filter(([name]) => name.startsWith(`${section} / `))
    .every(([, pairs]) => pairs.length >= minimumPairs && judge(changeOf(pairs)) !== "unclear");
}

function toChange(name: string, pairs: readonly Pair[], minimumPairs: number): Change {
  const interval = changeOf(pairs);
  const verdict = pairs.length < minimumPairs ? "too few pairs" : judge(interval);
  return { name, ...interval, verdict, pairs: pairs.length };
}
