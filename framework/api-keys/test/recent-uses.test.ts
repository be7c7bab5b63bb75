import { describe, expect, it } from "@jest/globals";
import { RecentUses } from "../src/recent-uses.js";

const NOW = 1_700_000_000_000;

describe("RecentUses", () => {
  it("accepts a use of each key once per minute", () => {
    const uses = new RecentUses();
    const accepted = [0, 1, 59_999, 60_000, 119_999, 120_000].map((ms) => uses.add("a", NOW + ms));
    expect(accepted).toEqual([true, false, false, true, false, true]);
    expect(uses.add("b", NOW + 120_000)).toBe(true);
  });

  it("remembers only the keys of the last minute, even if one is used all the time", () => {
    const uses = new RecentUses();
    for (let second = 0; second < 600; second++) {
      uses.add("all the time", NOW + second * 1_000);
      uses.add(`once at ${second}`, NOW + second * 1_000);
    }
    expect(uses.times.size).toBe(61);
  });
});
