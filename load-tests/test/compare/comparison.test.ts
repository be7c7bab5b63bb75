import { describe, expect, it } from "@jest/globals";
import { changesTable } from "../../src/compare/changes-table.js";
import { readCompareSettings, toChange } from "../../src/compare/sections.js";
import { judge } from "../../src/compare/verdict.js";
import { intervalOf } from "../../src/pairs/interval.js";
import { gaussian } from "../pairs/_gaussian.js";

/** The verdicts of ten comparisons, whose launches differ by 3 %: each ends with one, or after 300 launches. */
function tenTimes(speedOfHead: number): string[] {
  return Array.from({ length: 10 }, (_, seed) => {
    const random = gaussian(seed + 1);
    const ratios: number[] = [];
    while (ratios.length < 300) {
      ratios.push(speedOfHead * Math.exp(0.03 * random()));
      const change = changeOf(ratios);
      if (change.verdict !== "too few launches" && change.verdict !== "unclear") return change.verdict;
    }
    return "unclear";
  });
}

function changeOf(ratios: readonly number[]) {
  const cost = { ours: 1, theirs: 1 };
  return toChange("direct", { ours: "head", theirs: "base", row: "GET /", ...intervalOf(ratios), ratios, cost });
}

describe("a comparison of two builds", () => {
  it("of the same speed reports noise, ten times of ten", () => {
    expect(tenTimes(1)).toEqual(Array.from({ length: 10 }, () => "noise"));
  });

  it("finds a loss of 7 % in at least nine of ten", () => {
    expect(tenTimes(0.93).filter((verdict) => verdict === "to be investigated").length).toBeGreaterThanOrEqual(9);
  });

  it("finds a gain of 5 % in at least nine of ten", () => {
    expect(tenTimes(1.05).filter((verdict) => verdict === "improved").length).toBeGreaterThanOrEqual(9);
  });

  it("has no verdict after few launches", () => {
    expect(changeOf([0.5, 0.5, 0.5])).toMatchObject({ name: "direct / GET /", verdict: "too few launches" });
  });
});

describe("a verdict", () => {
  it.each([
    [1.021, 1.04, "improved"],
    [1.019, 1.04, "unclear"],
    [0.99, 1.02, "noise"],
    [0.95, 0.98, "noise"],
    [0.975, 1.02, "unclear"],
    [0.949, 0.98, "unclear"],
    [0.92, 0.949, "to be investigated"],
    [0.7, 0.949, "to be investigated"],
    [0.92, 0.951, "unclear"],
  ])("from %d to %d is %s", (low, high, verdict) => {
    expect(judge({ ratio: (low + high) / 2, low, high })).toBe(verdict);
  });

  it("is in a table, the sentence with the result first", () => {
    const names = { ours: "head", theirs: "base", row: "GET /", cost: { ours: 1, theirs: 1 } };
    const table = changesTable([
      {
        ...names,
        name: "direct / GET /",
        ratio: 0.94,
        low: 0.93,
        high: 0.948,
        ratios: [0.94, 0.94],
        verdict: "to be investigated",
      },
      { ...names, name: "http / GET /", ratio: 1, low: 0.9, high: 1.1, ratios: [1, 1, 1], verdict: "unclear" },
    ]);
    expect(table).toMatch(/^1 to be investigated, 1 unclear\.$/m);
    expect(table).toMatch(/^\| direct \/ GET \/ +\| −6\.0 % \| +−7\.0 % to −5\.2 % \| +2 \| to be investigated \|$/m);
    expect(table).toMatch(/^\| http \/ GET \/ .* unclear: too wide \|$/m);
  });
});

describe("the settings of a comparison", () => {
  it("are ten minutes, all sections and the last release", () => {
    expect(readCompareSettings({})).toEqual({ base: null, seconds: 600, sections: ["direct", "routing", "http"] });
  });

  it.each([
    [{ TIME: "soon" }, "Expected TIME to be seconds"],
    [{ TIME: "0.0" }, "Expected TIME to be seconds"],
    [{ ONLY: "toString" }, "Expected ONLY to name direct, routing, http"],
  ])("reject %j", (environment, message) => {
    expect(() => readCompareSettings(environment)).toThrow(message);
  });
});
