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
