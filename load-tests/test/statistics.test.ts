import { describe, expect, it } from "@jest/globals";
import { median, roundRatios, summarize, uncertaintyOf } from "../src/statistics.js";

describe("median", () => {
  it.each([
    [[7], 7],
    [[3, 1, 2], 2],
    [[4, 1, 3, 2], 2.5],
    [[10, 9, 100, 1, 2], 9],
  ])("of %j is %d", (figures, middle) => {
    expect(median(figures)).toBe(middle);
  });

  it("leaves the figures in their order", () => {
    const figures = [3, 1, 2];
    median(figures);
    expect(figures).toEqual([3, 1, 2]);
  });

  it("rejects an empty list", () => {
    expect(() => median([])).toThrow(RangeError);
  });
});

describe("summarize", () => {
  it("returns half the distance between the extremes as a share of the median", () => {
    expect(summarize([90, 100, 120])).toEqual({ median: 100, min: 90, max: 120, spread: 0.15, runs: [90, 100, 120] });
  });
});

describe("roundRatios", () => {
  it("compares round by round, so that a slow round on both sides does not count", () => {
    expect(roundRatios([100, 50, 100], [200, 100, 200])).toEqual([0.5, 0.5, 0.5]);
    expect(roundRatios([100, 10, 100], [100, 20, 100])).toEqual([1, 0.5, 1]);
  });

  it("rejects different numbers of runs", () => {
    expect(() => roundRatios([1, 2], [1])).toThrow("2 and 1");
  });
});

describe("uncertaintyOf", () => {
  it("is a factor that covers the median of rounds in 95 of 100 comparisons", () => {
    const random = randomNumbers();
    const comparisons = Array.from({ length: 1_000 }, () =>
      Array.from({ length: 5 }, () => 2 * Math.exp(0.3 * (sumOf(12, random) - 6))),
    );
    const factor = uncertaintyOf(comparisons) ?? 0;
    const covered = comparisons.filter((ratios) => Math.abs(Math.log(median(ratios) / 2)) < Math.log(factor)).length;
    expect(factor).toBeCloseTo(1.37, 1);
    expect(covered / comparisons.length).toBeGreaterThan(0.93);
    expect(covered / comparisons.length).toBeLessThan(0.97);
  });

  it("is 1 for rounds that agree, and unknown for single ones", () => {
    expect(uncertaintyOf([[2, 2, 2]])).toBe(1);
    expect(uncertaintyOf([[2], []])).toBeNull();
  });
});

/** Numbers from 0 to 1, the same in each run: Park and Miller's. */
function randomNumbers(): () => number {
  let state = 1;
  return () => (state = (state * 48_271) % 0x7fffffff) / 0x7fffffff;
}

function sumOf(count: number, random: () => number): number {
  let total = 0;
  for (let index = 0; index < count; index++) total += random();
  return total;
}
