import { describe, expect, it } from "@jest/globals";
import { formatRate, formatRatio, formatSpread, formatTable } from "../src/table.js";

describe("formatTable", () => {
  it("sets the first column to the left and the others to the right, as wide as their widest cell", () => {
    expect(formatTable(["name", "rate"], [["tsgi", "1,000,000"], ["hand-written"]])).toBe(
      [
        "| name         |      rate |",
        "| ------------ | --------: |",
        "| tsgi         | 1,000,000 |",
        "| hand-written |           |",
      ].join("\n"),
    );
  });
});

describe("figures", () => {
  it.each([
    [formatRate(1_234_567), "1,230,000"],
    [formatRate(987.6), "988"],
    [formatRate(50_000), "50,000"],
    [formatSpread(0.034), "±3 %"],
    [formatRatio(0.8149), "0.81×"],
    [formatRatio(37.8), "38×"],
  ])("reads %s", (text, expected) => {
    expect(text).toBe(expected);
  });
});
