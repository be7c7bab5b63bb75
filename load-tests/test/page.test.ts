import { describe, expect, it } from "@jest/globals";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { barChart, lineChart } from "../src/charts.js";
import { remember } from "../src/history.js";
import { toPage } from "../src/page.js";
import type { Report } from "../src/history.js";
import { readSettings } from "../src/settings.js";
import { summarize } from "../src/statistics.js";

const report: Report = {
  started: new Date("2026-01-02T03:04:05Z"),
  machine: { cpu: "a <processor>", cores: 2, node: "v20", load: 0.1 },
  settings: readSettings({}),
  peers: { hono: "4.0.0" },
  sections: {
    direct: [
      { contender: "tsgi", rows: { "GET /health": { perSecond: summarize([100, 200, 300]) } }, faults: [] },
      { contender: "Hono", rows: { "GET /health": { perSecond: summarize([50, 60, 70]) } }, faults: [] },
    ],
  },
};

describe("the page of a run", () => {
  const page = toPage(report, []);

  it("stands alone: no script, nothing from elsewhere", () => {
    expect(page).not.toMatch(/<script|https?:\/\/|<link|url\(/);
  });

  it("escapes what it shows", () => {
    expect(page).toContain("a &lt;processor&gt;");
    expect(page).not.toContain("<processor>");
  });

  it("says when, on what, beside what, and that no figure is a promise", () => {
    expect(page).toContain("2026-01-02 03:04 UTC, Node v20");
    expect(page).toContain("hono 4.0.0");
    expect(page).toContain("No figure is a promise");
  });

  it("draws the history once there are two runs", () => {
    const past = (ratio: number) => ({
      date: "2026-01-01T00:00:00Z",
      ratios: { "direct / Hono / GET /health": ratio },
    });
    expect(page).not.toContain("History");
    expect(toPage(report, [past(3), past(4)])).toContain("History of the ratios");
  });
});

describe("a bar chart", () => {
  it("has bars from zero in proportion to their medians", () => {
    const bar = (median: number, isOurs: boolean) => ({ label: "x", isOurs, median, min: median, max: median });
    const [first = 0, second = 0] = [...barChart([bar(10, true), bar(5, false)]).matchAll(/ width="([\d.]+)"/g)].map(
      ([, width]) => Number(width),
    );
    expect(first / second).toBeCloseTo(2);
  });
});

describe("a line chart", () => {
  it("leaves out values that there are not", () => {
    const chart = lineChart([{ label: "a", isOurs: true, values: [1, Number.NaN, 3] }], ["x", "y", "z"], "×");
    expect(/points="([^"]*)"/.exec(chart)?.[1]?.split(" ")).toHaveLength(2);
    expect(chart).not.toContain("NaN");
  });
});

describe("the history", () => {
  it("keeps each run, and outlives a broken line", async () => {
    const folder = await mkdtemp(join(tmpdir(), "tsgi-history-"));
    const file = join(folder, "history.jsonl");
    await writeFile(file, "half a li\n");
    await remember(report, file);
    const history = await remember(report, file);
    expect(history.map(({ ratios }) => ratios)).toEqual([
      { "direct / Hono / GET /health": 3.333 },
      { "direct / Hono / GET /health": 3.333 },
    ]);
    await rm(folder, { recursive: true });
  });

  it("does not count a quick run", async () => {
    const file = join(tmpdir(), "tsgi-no-history.jsonl");
    expect(await remember({ ...report, settings: readSettings({ QUICK: "1" }) }, file)).toEqual([]);
  });
});
