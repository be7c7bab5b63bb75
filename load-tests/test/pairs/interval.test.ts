import { describe, expect, it } from "@jest/globals";
import { intervalOf } from "../../src/pairs/interval.js";
import { gaussian } from "./_gaussian.js";

describe("the interval of ratios", () => {
  it.each([4, 10])("of %d launches contains the true ratio in 95 of 100 cases", (launches) => {
    const random = gaussian(launches);
    let contained = 0;
    for (let run = 0; run < 200; run++) {
      const { low, high } = intervalOf(Array.from({ length: launches }, () => 2 * Math.exp(0.05 * random())));
      if (low <= 2 && high >= 2) contained++;
    }
    expect(contained / 200).toBeGreaterThan(0.91);
    expect(contained / 200).toBeLessThan(1);
  });

  it("ignores a disturbed launch", () => {
    const ratios = Array.from({ length: 20 }, () => 1.5);
    ratios[3] = 0.1;
    expect(intervalOf(ratios).ratio).toBeCloseTo(1.5, 10);
  });

  it("is the same for the same ratios, and lies around their middle", () => {
    const random = gaussian(1);
    const ratios = Array.from({ length: 20 }, () => 1 + 0.01 * random());
    const { ratio, low, high } = intervalOf(ratios);
    expect(intervalOf(ratios)).toEqual({ ratio, low, high });
    expect(low).toBeLessThan(ratio);
    expect(high).toBeGreaterThan(ratio);
  });

  it("of one launch has no width, and requires one", () => {
    expect(intervalOf([3])).toEqual({ ratio: expect.closeTo(3), low: expect.closeTo(3), high: expect.closeTo(3) });
    expect(() => intervalOf([])).toThrow(RangeError);
  });
});
