import { describe, expect, it } from "@jest/globals";
import { changesTable } from "../../src/compare/changes-table.js";
import { changeOf, judge, type Pair } from "../../src/compare/interval.js";
import { comparePairs, type Measure, type Side } from "../../src/compare/pairs.js";
import { readCompareSettings } from "../../src/compare/sections.js";
import type { WorkerReport } from "../../src/report.js";

type MeasureSide = (side: Side) => Promise<WorkerReport>;

/** Measures one side after the other. */
function inTurns(measure: MeasureSide): Measure {
  return async () => ({ base: await measure("base"), head: await measure("head") });
}

/** Numbers that are the same in each run, normally distributed (Box and Muller). */
function gaussian(seed: number): () => number {
  let state = seed * 2_654_435_761;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state + 1) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next());
}

/**
 * Measures 1,000 responses per second of processor time; each process differs by 4 %, and the machine drifts by 20 %.
 */
function noisy(seed: number, speedOfHead: number): MeasureSide {
  const random = gaussian(seed);
  let processes = 0;
  return async (side) => {
    const drift = 1 + 0.2 * Math.sin(processes++ / 20);
    const speed = 1_000 * drift * (side === "head" ? speedOfHead : 1) * Math.exp(0.04 * random());
    return { rows: [{ name: "GET /", figures: { perCPUSecond: speed } }], faults: [] };
  };
}

/** The verdicts of ten comparisons of up to 300 pairs. */
async function tenTimes(speedOfHead: number): Promise<string[]> {
  const verdicts: string[] = [];
  for (let seed = 1; seed <= 10; seed++) {
    const limits = {
      minimumPairs: 12,
      until: Infinity,
      onPair: (_: string, pair: number) => {
        if (pair === 300) limits.until = 0;
      },
    };
    const [change] = await comparePairs({ direct: inTurns(noisy(seed, speedOfHead)) }, limits);
    verdicts.push(change?.verdict ?? "none");
  }
  return verdicts;
}

describe("a comparison of two builds", () => {
  it("of the same speed reports noise, ten times of ten", async () => {
    expect(await tenTimes(1)).toEqual(Array.from({ length: 10 }, () => "noise"));
  });

  it("finds a loss of 7 % in at least nine of ten", async () => {
    const found = (await tenTimes(0.93)).filter((verdict) => verdict === "to be investigated");
    expect(found.length).toBeGreaterThanOrEqual(9);
  });

  it("finds a gain of 5 % in at least nine of ten", async () => {
    expect((await tenTimes(1.05)).filter((verdict) => verdict === "improved").length).toBeGreaterThanOrEqual(9);
  });

  it("measures pair after pair, and stops when all are decided", async () => {
    const pairs: number[] = [];
    const report: WorkerReport = { rows: [{ name: "GET /", figures: { perCPUSecond: 100 } }], faults: [] };
    const measure: Measure = async (pair) => {
      pairs.push(pair);
      return { base: report, head: report };
    };
    await comparePairs({ direct: measure }, { minimumPairs: 3, until: Infinity });
    expect(pairs).toEqual([0, 1, 2]);
  });

  it("reports no change if there are too few pairs when the time is up", async () => {
    const limits = { minimumPairs: 8, until: Infinity };
    const slower: MeasureSide = async (side) => {
      limits.until = 0;
      return { rows: [{ name: "x", figures: { perCPUSecond: side === "base" ? 2 : 1 } }], faults: [] };
    };
    const changes = await comparePairs({ direct: inTurns(slower) }, limits);
    expect(changes).toMatchObject([{ estimate: -0.5, pairs: 1, verdict: "too few pairs" }]);
    expect(changesTable(changes)).toMatch(/^1 too few pairs\.$/m);
  });

  it("uses the rest of a decided section's time for the others, and ends in time", async () => {
    const asked: string[] = [];
    const limits = {
      minimumPairs: 2,
      until: Infinity,
      onPair: (section: string, pair: number) => {
        asked.push(section);
        if (pair === 5) limits.until = 0;
      },
    };
    let calls = 0;
    const wild: MeasureSide = async (side) => {
      const speed = side === "base" ? 1 : [0.5, 2][Math.floor(calls / 2) % 2];
      calls++;
      return { rows: [{ name: "x", figures: { perCPUSecond: speed as number } }], faults: [] };
    };
    const calm: MeasureSide = async () => ({ rows: [{ name: "x", figures: { perCPUSecond: 1 } }], faults: [] });
    await comparePairs({ calm: inTurns(calm), wild: inTurns(wild) }, limits);
    expect(asked.filter((section) => section === "calm")).toHaveLength(2);
    expect(asked.filter((section) => section === "wild")).toHaveLength(6);
  });

  it("ends with the wrong response of a build", async () => {
    const wrong: MeasureSide = async () => ({ rows: [], faults: ["GET /: expected the status 200, got 500"] });
    await expect(comparePairs({ direct: inTurns(wrong) }, { minimumPairs: 1, until: Infinity })).rejects.toThrow(
      "base: GET /: expected the status 200, got 500",
    );
  });
});

describe("a pair", () => {
  it("needs a figure of both", async () => {
    const measure: MeasureSide = async (side) => ({
      rows: side === "base" ? [{ name: "GET /", figures: { perCPUSecond: 1 } }] : [],
      faults: [],
    });
    await expect(comparePairs({ direct: inTurns(measure) }, { minimumPairs: 1, until: Infinity })).rejects.toThrow(
      "direct / GET / has no figure on both sides",
    );
  });

  it("is compared by the clock if no processor time is known", async () => {
    const measure: MeasureSide = async (side) => ({
      rows: [{ name: "GET /", figures: { perSecond: side === "base" ? 1 : 2 } }],
      faults: [],
    });
    const [change] = await comparePairs({ http: inTurns(measure) }, { minimumPairs: 3, until: Infinity });
    expect(change).toMatchObject({ estimate: 1, verdict: "improved" });
  });
});

describe("the change of pairs", () => {
  it("counts no disturbed process", () => {
    const pairs: Pair[] = Array.from({ length: 20 }, () => ({ base: 100, head: 103 }));
    pairs[3] = { base: 100, head: 10 };
    expect(changeOf(pairs).estimate).toBeCloseTo(0.03, 10);
  });

  it("is the same interval for the same pairs", () => {
    const random = gaussian(1);
    const pairs: Pair[] = Array.from({ length: 20 }, () => ({ base: 100, head: 100 + random() }));
    expect(changeOf(pairs)).toEqual(changeOf(pairs));
  });

  it("needs a pair", () => {
    expect(() => changeOf([])).toThrow("at least one pair");
  });
});

describe("a verdict", () => {
  it.each([
    [0.021, 0.04, "improved"],
    [0.019, 0.04, "unclear"],
    [-0.01, 0.02, "noise"],
    [-0.05, -0.02, "noise"],
    [-0.025, 0.02, "unclear"],
    [-0.051, -0.02, "unclear"],
    [-0.08, -0.051, "to be investigated"],
    [-0.3, -0.051, "to be investigated"],
    [-0.08, -0.049, "unclear"],
  ])("from %d to %d is %s", (low, high, verdict) => {
    expect(judge({ estimate: (low + high) / 2, low, high })).toBe(verdict);
  });

  it("is in a table, the sentence with the result first", () => {
    const change = { name: "direct / GET /", estimate: -0.06, low: -0.07, high: -0.052, pairs: 40 };
    const wide = { name: "http / GET /", estimate: 0, low: -0.1, high: 0.1, pairs: 12 };
    const table = changesTable([
      { ...change, verdict: "to be investigated" },
      { ...wide, verdict: "unclear" },
    ]);
    expect(table).toMatch(/^1 to be investigated, 1 unclear\.$/m);
    expect(table).toMatch(/^\| direct \/ GET \/ +\| −6\.0 % \| +−7\.0 % to −5\.2 % \| +40 \| to be investigated \|$/m);
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
