import { describe, expect, it } from "@jest/globals";
import { compare, extremes } from "../src/ratios.js";
import type { Result } from "../src/rounds.js";
import { summarize } from "../src/statistics.js";

function result(contender: string, figures: Record<string, number[]>): Result {
  const rows = Object.entries(figures).map(([row, runs]) => [row, { perSecond: summarize(runs) }]);
  return { contender, rows: Object.fromEntries(rows), faults: [] };
}

const ours = result("tsgi", { health: [80, 80], users: [200, 200] });

describe("compare", () => {
  it("divides ours by each other in each row, and returns the worst and the best", () => {
    const comparisons = compare(
      [ours, result("hand-written", { health: [100, 100], users: [400, 400] }), result("peer", { health: [10, 10] })],
      "perSecond",
    );
    expect(comparisons.map(({ contender, row, ratio }) => [contender, row, ratio])).toEqual([
      ["hand-written", "health", 0.8],
      ["hand-written", "users", 0.5],
      ["peer", "health", 8],
    ]);
    expect(extremes(comparisons)).toMatchObject({ worst: { ratio: 0.5, row: "users" }, best: { ratio: 8 } });
  });

  it("compares frameworks on another loop with tsgi on that loop", () => {
    const onUws = result("tsgi on uWebSockets.js", { health: [150, 150] });
    const uws = result("uWebSockets.js", { health: [200, 200] });
    expect(compare([ours, onUws, uws], "perSecond")).toEqual([
      { contender: "uWebSockets.js", row: "health", ratio: 0.75, rounds: [0.75, 0.75] },
    ]);
    expect(compare([ours, uws], "perSecond")).toEqual([]);
  });

  it("leaves out a contender whose numbers do not count", () => {
    expect(compare([ours, { contender: "peer", rows: {}, faults: ["wrong"] }], "perSecond")).toEqual([]);
    expect(compare([{ ...ours, rows: {} }, result("peer", { health: [1] })], "perSecond")).toEqual([]);
    expect(extremes([])).toBeNull();
  });
});
