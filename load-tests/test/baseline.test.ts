import { describe, expect, it } from "@jest/globals";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Baseline, ratiosOf, writeBaseline } from "../src/baseline.js";
import { summarize } from "../src/statistics.js";

const result = (contender: string, figures: Record<string, number>) => ({
  contender,
  rows: { "GET /": Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, summarize([value])])) },
  faults: [],
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

  it("omit a framework without a result, as after a wrong response", () => {
    const wrong = { contender: "Hono", rows: {}, faults: ["wrong"] };
    expect(ratiosOf({ direct: [result("tsgi", { perSecond: 1 }), wrong] })).toEqual({});
  });
});

describe("the baseline", () => {
  const baseline: Baseline = {
    date: "2026-01-02",
    node: "v20",
    cpu: "a processor",
    cores: 2,
    peers: {},
    ratios: { "direct / a / x": 2, "http / b / x": 1, "routing / c / x": 1, "direct / gone / x": 1 },
  };
  it("is written in a fixed order", async () => {
    const folder = await mkdtemp(join(tmpdir(), "tsgi-baseline-"));
    const file = pathToFileURL(join(folder, "baseline.json"));
    await writeBaseline({ ...baseline, ratios: { b: 1, a: 2 } }, file);
    const text = await readFile(file, "utf8");
    expect(text).toMatch(/"a": 2,\s+"b": 1/);
    expect(JSON.parse(text)).toEqual({ ...baseline, ratios: { a: 2, b: 1 } });
    await rm(folder, { recursive: true });
  });
});
