import { describe, expect, it } from "@jest/globals";
import { type Clocks, noiseLines, watchMachine, worstOf } from "../src/machine.js";

const start: Clocks = { total: 0, stolen: 0, processes: 0, own: 0, megahertz: 1_000 };

/** The disturbance between the start and `end`. */
function watched(end: Partial<Clocks>) {
  const readings = [start, { ...start, total: 1_000, ...end }];
  return watchMachine(() => readings.shift() ?? start)();
}

describe("the watch over the machine", () => {
  it("reports no disturbance of a quiet machine: the run's own time is not noise", () => {
    expect(noiseLines(watched({ processes: 940, own: 900, stolen: 10 }))).toEqual([]);
  });

  it.each<[Partial<Clocks>, string]>([
    [{ processes: 500, own: 400 }, "Noisy: other processes used 10.0 % of the processors' time."],
    [{ stolen: 20 }, "Noisy: the host took 2.0 % of the processors' time (steal)."],
    [{ megahertz: 900 }, "Noisy: the processors' frequency changed by −10.0 %."],
    [
      { stolen: 20, processes: 60 },
      "Noisy: the host took 2.0 % of the processors' time (steal), and other processes used 6.0 % of the processors' time.",
    ],
  ])("names %j", (end, line) => {
    expect(noiseLines(watched(end))).toEqual([line]);
  });

  it("reads this machine", () => {
    expect(Object.values(watchMachine()()).every(Number.isFinite)).toBe(true);
  });

  it("keeps the largest deviation of several sections, with either sign", () => {
    const quiet = { stolen: 0, others: 0.02, frequency: 0.01 };
    expect(worstOf([quiet, { stolen: 0.1, others: 0, frequency: -0.2 }])).toEqual({
      stolen: 0.1,
      others: 0.02,
      frequency: -0.2,
    });
    expect(worstOf([])).toEqual({ stolen: 0, others: 0, frequency: 0 });
  });
});
