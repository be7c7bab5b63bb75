/** Judges a change by the bounds of its interval. @module */
import type { Interval } from "./interval.js";

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
