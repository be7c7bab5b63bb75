/** The verdict on a change between two builds. @module */
import type { Interval } from "../pairs/interval.js";

/** Above this ratio, a change is an improvement. The specification fixes it. */
const IMPROVED = 1.02;

/** Below this ratio, a change is to be investigated. The specification fixes it. */
const REGRESSED = 0.95;

/** If the interval is wider, the row is unclear. */
const WIDE = 0.04;

/** `"unclear"`: the interval is wide, or has a threshold inside. `"too few launches"`: the time was up before there was one. */
export type Verdict = "improved" | "noise" | "to be investigated" | "unclear" | "too few launches";

/** The verdict for the whole interval. */
export function judge({ low, high }: Interval): Verdict {
  if (high < REGRESSED) return "to be investigated";
  if (low > IMPROVED) return "improved";
  return low >= REGRESSED && high <= IMPROVED && high - low <= WIDE ? "noise" : "unclear";
}
