import { describe, expect, it } from "@jest/globals";
import { type Contest, type Limits, measureInPairs } from "../../src/pairs/measure.js";
import { isSettled, LAUNCHES } from "../../src/settled.js";

/** A contest whose rows have these ratios in each launch. */
function contestOf(theirs: string, ratiosOf: (launch: number) => Readonly<Record<string, number>>) {
  const wanted: string[][] = [];
  const contest: Contest = {
    section: "http",
    ours: "tsgi serve",
    theirs,
    seconds: 1,
    launch: async (number, wants) => {
      const rows = Object.entries(ratiosOf(number)).filter(([name]) => wants(name));
      wanted.push(rows.map(([name]) => name));
      return rows.map(([name, ratio]) => ({ name, ratio, cost: { ours: 10, theirs: 10 * ratio } }));
    },
  };
  return { contest, wanted };
}

/** Ends after so many launches. */
function limitsOf(launches: number): Limits & { readonly order: string[] } {
  const order: string[] = [];
  const limits = {
    isSettled,
    until: Infinity,
    order,
    onLaunch: ({ theirs }: Contest, number: number, open: number) => {
      order.push(`${theirs} ${number} ${open}`);
      if (order.length === launches) limits.until = 0;
    },
  };
  return limits;
}

describe("programs in pairs", () => {
  it("are launched until the interval of each row is narrow, and settled rows are left out", async () => {
    const { contest, wanted } = contestOf("Hono", (launch) => ({ calm: 2, wild: launch < 4 ? 1 + launch : 2 }));
    const [outcome] = await measureInPairs([contest], limitsOf(60));
    expect(wanted[LAUNCHES - 1]).toEqual(["calm", "wild"]);
    expect(wanted[LAUNCHES]).toEqual(["wild"]);
    expect(wanted.length).toBeLessThan(60);
    expect(outcome?.comparisons.map((one) => [one.row, isSettled(one)])).toEqual([
      ["calm", true],
      ["wild", true],
    ]);
    expect(outcome?.comparisons[0]).toMatchObject({ ours: "tsgi serve", theirs: "Hono", ratio: expect.closeTo(2) });
    expect(outcome?.comparisons[0]?.ratios).toHaveLength(LAUNCHES);
  });

  it("take turns, and a settled contest passes its time to the others", async () => {
    const calm = contestOf("Hono", () => ({ row: 1.2 }));
    const wild = contestOf("Express", (launch) => ({ row: launch % 2 === 0 ? 5 : 9 }));
    const limits = limitsOf(10);
    const outcomes = await measureInPairs([calm.contest, wild.contest], limits);
    expect(limits.order.slice(0, 3)).toEqual(["Hono 0 2", "Express 0 2", "Hono 1 2"]);
    expect(limits.order.at(-1)).toBe("Express 5 1");
    expect(outcomes.map(({ comparisons }) => comparisons.map(isSettled))).toEqual([[true], [false]]);
  });

  it("have no result after a wrong response, and the others continue", async () => {
    const wrong = contestOf("Hono", (launch) => {
      if (launch === 1) throw new Error("GET /: got 500");
      return { row: 1 };
    });
    const right = contestOf("Express", () => ({ row: 5 }));
    const outcomes = await measureInPairs([wrong.contest, right.contest], limitsOf(60));
    expect(outcomes).toMatchObject([
      { comparisons: [], fault: "GET /: got 500" },
      { comparisons: [{ row: "row" }], fault: null },
    ]);
  });
});
