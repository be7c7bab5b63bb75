import { describe, expect, it } from "@jest/globals";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  type Baseline,
  compareWithBaseline,
  judge,
  ratiosOf,
  readBaseline,
  regressedSections,
  writeBaseline,
} from "../src/baseline.js";
import { changesTable } from "../src/changes-table.js";
import { summarize } from "../src/statistics.js";

const result = (contender: string, figures: Record<string, number>) => ({
  contender,
  rows: { "GET /": Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, summarize([value])])) },
  faults: [],
});

describe("a change of a ratio", () => {
  it.each([
    [0.021, "improved"],
    [0.02, "noise"],
    [0, "noise"],
    [-0.05, "noise"],
    [-0.051, "regressed"],
  ])("of %d is %s", (change, verdict) => {
    expect(judge(change)).toBe(verdict);
  });
});

describe("the ratios of a run", () => {
  it("are ours divided by theirs, by section, contender and row; over HTTP by processor time", () => {
    const ratios = ratiosOf({
      direct: [result("tsgi", { perSecond: 300 }), result("Hono", { perSecond: 100 })],
      http: [
        result("tsgi serve", { perSecond: 1, perCPUSecond: 50 }),
        result("h3", { perSecond: 2, perCPUSecond: 40 }),
      ],
    });
    expect(ratios).toEqual({ "direct / Hono / GET /": 3, "http / h3 / GET /": 1.25 });
  });

  it("leave out a contender that has no figure, as one with a wrong answer has none", () => {
    const wrong = { contender: "Hono", rows: {}, faults: ["wrong"] };
    expect(ratiosOf({ direct: [result("tsgi", { perSecond: 1 }), wrong] })).toEqual({});
  });
});

describe("the comparison with the baseline", () => {
  const baseline: Baseline = {
    date: "2026-01-02",
    node: "v20",
    cpu: "a processor",
    cores: 2,
    peers: {},
    ratios: { "direct / a / x": 2, "http / b / x": 1, "routing / c / x": 1, "direct / gone / x": 1 },
  };
  const changes = compareWithBaseline(
    { "direct / a / x": 2.1, "http / b / x": 0.9, "routing / c / x": 0.97, "direct / new / x": 1 },
    baseline.ratios,
  );

  it("has every ratio of both, the worst first", () => {
    expect(changes.map(({ name, verdict }) => [name, verdict])).toEqual([
      ["http / b / x", "regressed"],
      ["routing / c / x", "noise"],
      ["direct / a / x", "improved"],
    ]);
  });

  it("names the sections to be measured again", () => {
    expect(regressedSections(changes)).toEqual(["http"]);
  });

  it("is shown with what the baseline was measured on", () => {
    const table = changesTable(changes, baseline);
    expect(table).toContain("the baseline of 2026-01-02 (Node v20, 2 × a processor)");
    expect(table).toMatch(/^http \/ b \/ x +1\.00× +0\.90× +−10\.0 % +regressed$/m);
    expect(table).toContain("1 improved, 1 noise, 1 regressed.");
  });

  it("is written in a fixed order, and read again", async () => {
    const folder = await mkdtemp(join(tmpdir(), "tsgi-baseline-"));
    const file = pathToFileURL(join(folder, "baseline.json"));
    await writeBaseline({ ...baseline, ratios: { b: 1, a: 2 } }, file);
    expect(await readFile(file, "utf8")).toMatch(/"a": 2,\s+"b": 1/);
    expect(await readBaseline(file)).toMatchObject({ date: "2026-01-02", ratios: { a: 2, b: 1 } });
    await rm(folder, { recursive: true });
  });

  it("says how to make a baseline where there is none", async () => {
    await expect(readBaseline(pathToFileURL(join(tmpdir(), "no-such-baseline.json")))).rejects.toThrow(
      "make bench-baseline",
    );
  });
});
