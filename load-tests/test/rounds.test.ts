import { describe, expect, it } from "@jest/globals";
import { faultsOf, takeTurns } from "../src/rounds.js";

const report = (perSecond: number, ...faults: string[]) => ({
  rows: [{ name: "a row", figures: { perSecond } }],
  faults,
});

describe("takeTurns", () => {
  it("lets each contender run once a round, and begins each round with another one", async () => {
    const order: string[] = [];
    await takeTurns(["a", "b", "c"], 3, async (contender, round) => {
      order.push(`${contender}${round}`);
      return report(1);
    });
    expect(order.join(" ")).toBe("a0 b0 c0 b1 c1 a1 c2 a2 b2");
  });

  it("sums each contender's runs up by row and figure", async () => {
    const [first, second] = await takeTurns(["a", "b"], 3, async (contender, round) =>
      report((round + 1) * (contender === "a" ? 1 : 10)),
    );
    expect(first).toMatchObject({ contender: "a", rows: { "a row": { perSecond: { median: 2, runs: [1, 2, 3] } } } });
    expect(second?.rows["a row"]?.["perSecond"]?.median).toBe(20);
  });

  it("discards the results of a framework that sent a wrong response in any round", async () => {
    const results = await takeTurns(["a", "b"], 3, async (contender, round) =>
      contender === "b" && round === 1 ? report(1, "a wrong answer") : report(1),
    );
    expect(results[0]?.rows).not.toEqual({});
    expect(results[1]).toEqual({ contender: "b", rows: {}, faults: ["a wrong answer"] });
    expect(faultsOf(results)).toEqual(["b: a wrong answer"]);
  });

  it("records a failed process as one error, and continues", async () => {
    const results = await takeTurns(["a", "b"], 2, async (contender) => {
      if (contender === "a") throw new Error("it crashed");
      return report(1);
    });
    expect(faultsOf(results)).toEqual(["a: it crashed"]);
    expect(results[1]?.faults).toEqual([]);
  });
});
