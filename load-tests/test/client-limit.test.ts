import { describe, expect, it } from "@jest/globals";
import { clientLines, markOf } from "../src/client-limit.js";
import { summarize } from "../src/statistics.js";

const figuresOf = (figures: Record<string, number>) =>
  Object.fromEntries(Object.entries(figures).map(([name, figure]) => [name, summarize([figure])]));

describe("the limit of a client", () => {
  it.each([
    [0.95, 0.94, true],
    [0.95, 0.95, false],
    [0.94, 0.5, false],
  ])("with %p of its core and %p of the server's is the limit of the rate: %p", (clientLoad, serverLoad, expected) => {
    expect(markOf(figuresOf({ clientLoad, serverLoad }), "perSecond")).toBe(expected ? "*" : "");
  });

  it("is assumed if the system does not report the time of the server, but not without its own", () => {
    expect(markOf(figuresOf({ clientLoad: 1 }), "perSecond")).toBe("*");
    expect(markOf({}, "perSecond")).toBe("");
  });

  it("marks rates, not processor time", () => {
    const figures = figuresOf({ clientLoad: 1, serverLoad: 0.5 });
    expect(markOf(figures, "perSecond")).toBe("*");
    expect(markOf(figures, "perCPUSecond")).toBe("");
    expect(clientLines([{ contender: "a", rows: { row: figures }, faults: [] }])).toEqual([
      "Of a core the client used 100 to 100 %, the server 50 to 50 %.",
    ]);
  });
});
