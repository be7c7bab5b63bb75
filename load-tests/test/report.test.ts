import { describe, expect, it } from "@jest/globals";
import { parseReport } from "../src/report.js";

describe("parseReport", () => {
  it("reads the last line, even if a framework printed before it", () => {
    const report = { rows: [{ name: "GET /health", figures: { perSecond: 1.5 } }], faults: ["one"] };
    expect(parseReport(`a warning\n${JSON.stringify(report)}\n`)).toEqual(report);
  });

  it.each([
    "{}",
    "null",
    '{"rows":[],"faults":[1]}',
    '{"rows":[{"name":"x"}],"faults":[]}',
    '{"rows":[{"name":"x","figures":{"perSecond":null}}],"faults":[]}',
  ])("rejects %s", (output) => {
    expect(() => parseReport(output)).toThrow("Expected a report");
  });
});
