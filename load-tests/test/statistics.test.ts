import { describe, expect, it } from "@jest/globals";
import { median, summarize } from "../src/statistics.js";

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
