/** The change between two builds, estimated from pairs of measurements. @module */

/** One figure of both builds, measured next to each other. */
export interface Pair {
  readonly base: number;
  readonly head: number;
}

/** An estimate with its 95 % confidence interval, as shares: `-0.06` reads "6 % less". */
export interface Interval {
  readonly estimate: number;
  readonly low: number;
  readonly high: number;
}

/** Percentile bootstrap: Efron and Tibshirani 1993, chapter 13, recommend 1,000 resamples for intervals. */
const RESAMPLES = 1_000;

/** The share that a trimmed mean leaves out at each end: a process that was disturbed does not count. */
const TRIMMED = 0.2;

/**
 * The change from base to head: the trimmed mean of the logarithms of the ratios, with its interval by the bootstrap over
 * the pairs. The same pairs always give the same interval.
 *
 * @throws RangeError without pairs.
 */
export function changeOf(pairs: readonly Pair[]): Interval {
  const logs = Float64Array.from(pairs, ({ base, head }) => Math.log(head / base));
  if (logs.length === 0) throw new RangeError("Expected at least one pair for a change, but received 0.");
  const random = mulberry32(logs.length);
  const sample = new Float64Array(logs.length);
  const means = Float64Array.from({ length: RESAMPLES }, () => {
    for (let index = 0; index < sample.length; index++) sample[index] = logs[Math.floor(random() * logs.length)] ?? 0;
    return trimmedMean(sample);
  }).toSorted();
  return {
    estimate: Math.expm1(trimmedMean(logs.slice())),
    low: Math.expm1(means[Math.floor(RESAMPLES * 0.025)] ?? Number.NaN),
    high: Math.expm1(means[Math.ceil(RESAMPLES * 0.975) - 1] ?? Number.NaN),
  };
}

/** Sorts the figures in place. */
function trimmedMean(figures: Float64Array): number {
  figures.sort();
  const trimmed = Math.floor(figures.length * TRIMMED);
  const kept = figures.subarray(trimmed, figures.length - trimmed);
  return kept.reduce((sum, figure) => sum + figure, 0) / kept.length;
}

/** Numbers from 0 to 1 that are the same in each run (T. Ettinger's mulberry32). */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Above this share, a change is an improvement. The specification fixes it. */
const IMPROVED = 0.02;

/** Below this share, a change is to be investigated. The specification fixes it. */
const REGRESSED = -0.05;

/** An interval is wide from this share to each side. */
const WIDE = 0.02;

/** `"unclear"`: the interval is wide, or has a threshold inside. `"too few pairs"`: the time was up before there was one. */
export type Verdict = "improved" | "noise" | "to be investigated" | "unclear" | "too few pairs";

/** The verdict for the whole interval. */
export function judge({ low, high }: Interval): Verdict {
  if (high < REGRESSED) return "to be investigated";
  if (low > IMPROVED) return "improved";
  return low >= REGRESSED && high <= IMPROVED && high - low <= 2 * WIDE ? "noise" : "unclear";
}
