import { describe, expect, it } from "@jest/globals";
import { clientLines, clientNotes, MARK_NOTE, markOf } from "../src/client-limit.js";
import { summarize } from "../src/statistics.js";

const figuresOf = (figures: Record<string, number>) =>
  Object.fromEntries(Object.entries(figures).map(([name, figure]) => [name, summarize([figure])]));

describe("the limit of a client", () => {
  it.each([
    [0.95, 0.94, true],
    [0.95, 0.95, false],
    [0.94, 0.5, false],
  ])(
    "with %p of its core beside %p of the server's is the limit of the rate: %p",
    (clientLoad, serverLoad, expected) => {
      expect(clientNotes(figuresOf({ clientLoad, serverLoad }))).toEqual(expected ? ["the client is the limit"] : []);
    },
  );

  it("is assumed where the system does not tell the time of the server, and not without its own", () => {
    expect(clientNotes(figuresOf({ clientLoad: 1 }))).toEqual(["the client is the limit"]);
    expect(clientNotes({})).toEqual([]);
  });

  it("marks rates, not processor time", () => {
    const figures = figuresOf({ clientLoad: 1, serverLoad: 0.5 });
    expect(markOf(figures, "perSecond")).toBe("*");
    expect(markOf(figures, "perCPUSecond")).toBe("");
    expect(clientLines([{ contender: "a", rows: { row: figures }, faults: [] }])).toEqual([
      "Of a core the client used 100 to 100 %, the server 50 to 50 %.",
      MARK_NOTE,
    ]);
  });

  it("is named in a row, as is a client that was late for more than half of a percentile", () => {
    const late = { p99Ms: 1, lateP99Ms: 0.1, p99_9Ms: 2, lateP99_9Ms: 1.1 };
    expect(clientNotes(figuresOf({ ...late, clientLoad: 1 }))).toEqual([
      "the client was late",
      "the client is the limit",
    ]);
    expect(clientNotes(figuresOf({ ...late, lateP99_9Ms: 1 }))).toEqual([]);
  });
});
