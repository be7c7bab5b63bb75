/** Summaries of several runs of one measurement. @module */

/** The figures of several runs as one. */
export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** Half the distance between the lowest and the highest figure, as a share of the median: `0.03` reads "±3 %". */
  readonly spread: number;
  readonly runs: readonly number[];
}

/** The middle figure, or the mean of the two in the middle. @throws RangeError when there is none. */
export function median(figures: readonly number[]): number {
  if (figures.length === 0) {
    throw new RangeError("Expected at least one figure for a median, but there was none.");
  }
  const sorted = figures.toSorted((left, right) => left - right);
  const upper = sorted[sorted.length >> 1] ?? Number.NaN;
  const lower = sorted[(sorted.length - 1) >> 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** Sums several runs up. @throws RangeError when there is none. */
export function summarize(runs: readonly number[]): Summary {
  const middle = median(runs);
  const min = Math.min(...runs);
  const max = Math.max(...runs);
  return { median: middle, min, max, spread: (max - min) / 2 / middle, runs };
}

/**
 * The ratio of `ours` to `theirs`: the median over the rounds. The two figures of a round are measured next to each
 * other, so that a temporary slowdown of the machine affects both.
 *
 * @throws RangeError when the two have not the same number of runs.
 */
export function pairedRatio(ours: readonly number[], theirs: readonly number[]): number {
  if (ours.length !== theirs.length) {
    throw new RangeError(`Expected as many runs of both, but there were ${ours.length} and ${theirs.length}.`);
  }
  return median(ours.map((figure, round) => figure / (theirs[round] ?? Number.NaN)));
}
