import { describe, expect, it } from "@jest/globals";
import { median, pairedRatio, summarize } from "../src/statistics.js";

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

  it("refuses to speak of no figure", () => {
    expect(() => median([])).toThrow(RangeError);
  });
});

describe("summarize", () => {
  it("gives half the distance between the extremes as a share of the median", () => {
    expect(summarize([90, 100, 120])).toEqual({ median: 100, min: 90, max: 120, spread: 0.15, runs: [90, 100, 120] });
  });
});

describe("pairedRatio", () => {
  it("compares round by round, so that a slow round on both sides does not count", () => {
    expect(pairedRatio([100, 50, 100], [200, 100, 200])).toBe(0.5);
    expect(pairedRatio([100, 10, 100], [100, 20, 100])).toBe(1);
  });

  it("refuses different numbers of runs", () => {
    expect(() => pairedRatio([1, 2], [1])).toThrow("2 and 1");
  });
});
