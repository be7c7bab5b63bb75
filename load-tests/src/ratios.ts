/** Ratios of ours to the others. @module */
import type { Result } from "./rounds.js";
import { median, roundRatios, type Summary } from "./statistics.js";

/** Ours compared with one other framework in one row. */
export interface Comparison {
  readonly contender: string;
  readonly row: string;
  /** Ours divided by theirs: above 1 ours is faster. */
  readonly ratio: number;
  /** The ratios of the rounds; if the two did not run in the same rounds, only the ratio of the medians. */
  readonly rounds: readonly number[];
}

/** The platform's own server, without a framework. */
export const BARE_NODE = "bare node:http";
/** Ours on another I/O loop. */
export const TSGI_ON_UWS = "tsgi on uWebSockets.js";
/** That loop without a framework. */
export const BARE_UWS = "uWebSockets.js";

/** True for ours: the first result, and tsgi on another I/O loop. */
function isOurs(results: readonly Result[], contender: string): boolean {
  return contender === results[0]?.contender || contender === TSGI_ON_UWS;
}

/** Programs without a framework, over HTTP and called directly. */
const BARE: ReadonlySet<string> = new Set([
  "hand-written ASGI on serve",
  "hand-written ASGI",
  "hand-written fetch",
  BARE_NODE,
  BARE_UWS,
]);

/** True for a program without a framework. */
export function isBare(contender: string): boolean {
  return BARE.has(contender);
}

/** The class of a contender in charts. */
export function kindOf(results: readonly Result[], contender: string): "ours" | "theirs" | "bare" {
  if (isOurs(results, contender)) return "ours";
  return isBare(contender) ? "bare" : "theirs";
}

/** The result of ours to compare with: the first one, or that on the same I/O loop. `null` without one. */
export function oursFor(results: readonly Result[], contender: string): Result | null {
  const [ours = null] = results;
  if (isOurs(results, contender)) return null;
  return contender === BARE_UWS ? (results.find((result) => result.contender === TSGI_ON_UWS) ?? null) : ours;
}

/** Compares a number of ours with all others in every row that both have. */
export function compare(results: readonly Result[], figure: string): Comparison[] {
  return results.flatMap(({ contender, rows }) =>
    Object.entries(rows).flatMap(([row, figures]) => {
      const our = oursFor(results, contender)?.rows[row]?.[figure];
      const their = figures[figure];
      return our === undefined || their === undefined
        ? []
        : [{ contender, row, ratio: ratioOf(our, their), rounds: ratiosOf(our, their) }];
    }),
  );
}

/** Ours divided by theirs: round by round where both ran in the same rounds, else by their medians. */
export function ratioOf(ours: Summary, theirs: Summary): number {
  return median(ratiosOf(ours, theirs));
}

function ratiosOf(ours: Summary, theirs: Summary): readonly number[] {
  return ours.runs.length === theirs.runs.length ? roundRatios(ours.runs, theirs.runs) : [ours.median / theirs.median];
}

/** Tells if the runs show which of two is faster: `uncertainty` is the factor of {@link uncertaintyOf}, `null` for single runs. */
export function isDecided(ratio: number, uncertainty: number | null): boolean {
  return uncertainty === null || ratio >= uncertainty || ratio <= 1 / uncertainty;
}

/** The lowest and the highest ratio, or `null` without comparisons. */
export function extremes(comparisons: readonly Comparison[]): { worst: Comparison; best: Comparison } | null {
  const sorted = comparisons.toSorted((left, right) => left.ratio - right.ratio);
  const worst = sorted[0];
  const best = sorted.at(-1);
  return worst === undefined || best === undefined ? null : { worst, best };
}
