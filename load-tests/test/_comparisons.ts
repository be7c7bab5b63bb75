import { intervalOf } from "../src/pairs/interval.js";
import type { Comparison } from "../src/pairs/measure.js";
import type { Paired } from "../src/run.js";

/** A row whose launches have these ratios. */
export function comparison(theirs: string, row: string, ratios: readonly number[], ours = "tsgi serve"): Comparison {
  const cost = { ours: 10, theirs: 10 * (ratios[0] ?? 1) };
  return { ours, theirs, row, ...intervalOf(ratios), ratios, cost };
}

/** Four launches with the same ratio. */
export function settled(theirs: string, row: string, ratio: number, ours?: string): Comparison {
  return comparison(theirs, row, [ratio, ratio, ratio, ratio], ours);
}

/** A section of one run. */
export function sectionOf(...comparisons: readonly Comparison[]): Paired {
  const disturbance = { stolen: 0, others: 0, frequency: 0 };
  return {
    runs: [{ started: "2026-01-02T03:04:05.000Z", seconds: 60, load: 0, disturbance }],
    comparisons,
    faults: [],
  };
}
