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

/** The middle number, or the mean of the two in the middle. @throws RangeError for an empty list. */
export function median(figures: readonly number[]): number {
  if (figures.length === 0) throw new RangeError("Expected at least one number for a median, but received 0.");
  const sorted = figures.toSorted((left, right) => left - right);
  const upper = sorted[sorted.length >> 1] ?? Number.NaN;
  const lower = sorted[(sorted.length - 1) >> 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** Summarizes several runs. @throws RangeError for an empty list. */
export function summarize(runs: readonly number[]): Summary {
  const middle = median(runs);
  const min = Math.min(...runs);
  const max = Math.max(...runs);
  return { median: middle, min, max, spread: (max - min) / 2 / middle, runs };
}

/**
 * The ratio of `ours` to `theirs` in each round. Both figures of a round share a slow drift of the machine, and no more: with ten
 * contenders they are minutes apart.
 *
 * @throws RangeError when the two have not the same number of runs.
 */
export function roundRatios(ours: readonly number[], theirs: readonly number[]): number[] {
  if (ours.length !== theirs.length) {
    throw new RangeError(`Expected as many runs of both, but there were ${ours.length} and ${theirs.length}.`);
  }
  return ours.map((figure, round) => figure / (theirs[round] ?? Number.NaN));
}

/**
 * The standard error of the median of 3 to 5 normally distributed numbers, compared with that of their mean: 1.16 to
 * 1.20.
 */
const MEDIAN_ERROR = 1.2;

/**
 * The factor within which a median ratio is uncertain (95 %), from the standard deviation of the ratios of its rounds.
 * That is pooled over all comparisons, as 3 or 5 rounds of one say little. `null` without several rounds.
 */
export function uncertaintyOf(comparisons: readonly (readonly number[])[]): number | null {
  const repeated = comparisons.filter(({ length }) => length > 1).map((ratios) => ratios.map(Math.log));
  if (repeated.length === 0) return null;
  const variances = repeated.map((logs) => {
    const mean = sum(logs) / logs.length;
    return sum(logs.map((log) => (log - mean) ** 2)) / (logs.length - 1) / logs.length;
  });
  return Math.exp(1.96 * MEDIAN_ERROR * Math.sqrt(sum(variances) / variances.length));
}

function sum(figures: readonly number[]): number {
  return figures.reduce((total, figure) => total + figure, 0);
}
