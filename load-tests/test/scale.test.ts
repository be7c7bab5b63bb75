import { describe, expect, it } from "@jest/globals";
import { scaleFor } from "../src/charts.js";

describe("the scale of a chart", () => {
  it("begins at zero if every bar is visible", () => {
    const { place, ticks, name } = scaleFor([10, 60, 100]);
    expect(place(50)).toBe(0.5);
    expect(ticks).toEqual([0, 50, 100]);
    expect(name).toContain("from 0");
  });

  it("is logarithmic if a bar would vanish, with equal distances between ticks", () => {
    const { place, ticks, name } = scaleFor([2_000, 1_000_000]);
    expect(ticks).toEqual([1_000, 10_000, 100_000, 1_000_000]);
    expect(ticks.map(place).map((share) => Number(share.toFixed(3)))).toEqual([0, 0.333, 0.667, 1]);
    expect(name).toContain("logarithmic");
  });

  it("leaves a bar for the least figure, even a power of ten", () => {
    const { place } = scaleFor([1_000, 1_000_000]);
    expect(place(1_000)).toBeGreaterThan(0.1);
  });
});
