import { describe, expect, it } from "@jest/globals";
import { summarize } from "../../src/statistics.js";
import { typesLines } from "../../src/types/lines.js";

const figures = (cpuMs: number, instantiations?: number) => ({
  perCPUSecond: summarize([500_000 / cpuMs]),
  cpuMs: summarize([cpuMs]),
  memoryMiB: summarize([123.4]),
  ...(instantiations === undefined ? {} : { instantiations: summarize([instantiations]) }),
});

describe("the lines of the price of types", () => {
  it("lead with the row in which tsgi is slowest", () => {
    const lines = typesLines([
      { contender: "tsgi", rows: { A: figures(2_000, 97.4), B: figures(4_000) }, faults: [] },
      { contender: "Hono", rows: { A: figures(6_000, 900), B: figures(1_000) }, faults: [] },
      { contender: "NestJS", rows: { A: figures(4_000) }, faults: [] },
    ]);
    expect(lines).toEqual([
      ["B", "tsgi", "4.00 s", "", "", "123 MiB", "–"],
      ["B", "Hono", "1.00 s", "", "0.25×", "123 MiB", "–"],
      ["A", "tsgi", "2.00 s", "", "", "123 MiB", "97"],
      ["A", "Hono", "6.00 s", "", "3.00×", "123 MiB", "900"],
      ["A", "NestJS", "4.00 s", "", "2.00×", "123 MiB", "–"],
    ]);
  });
});
