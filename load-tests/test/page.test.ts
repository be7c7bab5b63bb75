import { describe, expect, it } from "@jest/globals";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { barChart, barFigure, type Kind, lineChart } from "../src/charts.js";
import { remember, type Report } from "../src/history.js";
import { toPage } from "../src/page.js";
import { readSettings } from "../src/settings.js";
import { summarize } from "../src/statistics.js";

const result = (contender: string, runs: readonly number[]) => ({
  contender,
  rows: { "GET /health": { perSecond: summarize(runs) } },
  faults: [],
});

const report: Report = {
  started: new Date("2026-01-02T03:04:05Z"),
  machine: { cpu: "a <processor>", cores: 2, node: "v20", load: 0.1 },
  settings: readSettings({}),
  peers: { hono: "4.0.0" },
  sections: {
    direct: [result("tsgi", [100, 200, 300]), result("Hono", [50, 60, 70])],
  },
};

describe("the page of a run", () => {
  const page = toPage(report, []);

  it("stands alone: no script, nothing from elsewhere", () => {
    expect(page).not.toMatch(/<script|https?:\/\/|<link|url\((?!#)/);
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

  it("begins with the result in a sentence and the ratios", () => {
    expect(page).toContain(
      "Direct calls, tsgi is at worst 3.33× as fast as Hono in GET /health, at best 3.33× as fast as Hono in GET /health; slower in 0 of 1 comparisons with frameworks.",
    );
    expect(page.indexOf("tsgi is at worst")).toBeLessThan(page.indexOf("<h2>"));
    expect(page).toContain("Direct calls: frameworks");
  });

  it("begins with the noise of a noisy run", () => {
    const busy = toPage({ ...report, machine: { ...report.machine, load: 1.5 } }, []);
    expect(busy.indexOf("This run is noisy: the load was 1.5 at the start")).toBeLessThan(busy.indexOf("at worst"));
    expect(page).toContain("This run is noisy: 2 of 2 figures spread over more than ±10 %");
    const direct = [result("tsgi", [100, 101, 102]), result("Hono", [50, 51, 52])];
    expect(toPage({ ...report, sections: { direct } }, [])).not.toContain("noisy");
  });

  it("begins with what disturbed a section, and says it there", () => {
    const direct = [result("tsgi", [100, 101, 102]), result("Hono", [50, 51, 52])];
    const disturbances = { direct: { stolen: 0, others: 0.12, frequency: 0 } };
    const disturbed = toPage({ ...report, sections: { direct }, disturbances }, []);
    const reason = "other processes used 12.0 % of the processors' time";
    expect(disturbed.indexOf(`This run is noisy: ${reason}`)).toBeLessThan(disturbed.indexOf("at worst"));
    expect(disturbed.slice(disturbed.indexOf("<h2>"))).toContain(`Noisy: ${reason}. Again:`);
  });

  it("marks a rate that is the client's", () => {
    const { rows } = result("Hono", [50, 50, 50]);
    const loads = { clientLoad: summarize([1]), serverLoad: summarize([0.8]) };
    const limited = { contender: "Hono", rows: { "GET /health": { ...rows["GET /health"], ...loads } }, faults: [] };
    const marked = toPage({ ...report, sections: { direct: [result("tsgi", [100, 100, 100]), limited] } }, []);
    expect(marked).toContain(">Hono*<");
    expect(marked).toContain("the client is the limit.");
    expect(page).not.toContain("the client is the limit.");
  });

  it("has the latencies of each server with its own rate", () => {
    const figures = { ratePerSecond: 20_000, p50Ms: 0.1234, p99Ms: 1, p99_9Ms: 2, lateP99Ms: 0, lateP99_9Ms: 1.5 };
    const summaries = Object.entries(figures).map(([name, figure]) => [name, summarize([figure])]);
    const rows = { "GET /health at 80 %": Object.fromEntries(summaries) };
    const timed = toPage({ ...report, sections: { latency: [{ contender: "tsgi serve", rows, faults: [] }] } }, []);
    expect(timed).toContain(
      '<td>tsgi serve <small class="about">the client was late</small></td><td>20k</td><td>0.123</td><td>1</td><td>2</td>',
    );
  });

  it("judges nothing after a quick run, and begins with that", () => {
    const quick = toPage({ ...report, settings: readSettings({ QUICK: "1" }) }, []);
    expect(quick).toContain("judges nothing");
    expect(quick).not.toMatch(/at worst|\d×/);
  });

  it("leads with the row where we are worst, and there with the worst ratio", () => {
    const rows = (a: number, b: number) => ({ A: { perSecond: summarize([a]) }, B: { perSecond: summarize([b]) } });
    const direct = [
      { contender: "tsgi", rows: rows(100, 100), faults: [] },
      { contender: "Hono", rows: rows(50, 125), faults: [] },
      { contender: "h3", rows: rows(40, 200), faults: [] },
    ];
    const sorted = toPage({ ...report, sections: { direct } }, []);
    const details = sorted.slice(sorted.indexOf("<h2>"));
    expect(details.indexOf("<h3>B</h3>")).toBeLessThan(details.indexOf("<h3>A</h3>"));
    expect(details.indexOf("200 · 0.50×")).toBeLessThan(details.indexOf("125 · 0.80×"));
  });

  it("names the command that repeats each section, and the time that it took", () => {
    const timed = toPage({ ...report, seconds: { direct: 80 } }, []);
    expect(timed).toContain("<code>make bench ONLY=direct</code>, 80 s.");
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
  const bar = (median: number, kind: Kind = "theirs", spread = 0) => ({
    label: "x",
    kind,
    median,
    min: median - spread,
    max: median + spread,
  });
  const widthsOf = (chart: string) =>
    [...chart.matchAll(/<i class="\w+" style="width:([\d.]+)%/g)].map(([, width]) => Number(width));

  it("has bars from zero in proportion to their medians, and names its scale", () => {
    const chart = barChart([bar(10, "ours"), bar(5)]);
    const [first = 0, second = 0] = widthsOf(chart);
    expect(first / second).toBeCloseTo(2);
    expect(chart).toContain("linear scale from 0");
  });

  it("turns to a logarithmic scale where a bar would vanish, and names it", () => {
    const chart = barChart([bar(1_000_000, "ours"), bar(10_000)]);
    expect(widthsOf(chart).every((width) => width > 10)).toBe(true);
    expect(chart).toContain("logarithmic scale");
  });

  it("draws a spread for several rounds only, and the figure at the end of the bar", () => {
    expect(barChart([bar(10)])).not.toContain("<b ");
    const chart = barChart([bar(10, "ours", 2)]);
    expect(chart).toContain("<b ");
    const [width] = widthsOf(chart);
    expect(chart).toContain(`<span style="left:${width?.toFixed(2)}%">10</span>`);
    expect(barFigure("t", "u", [{ title: "g", bars: [bar(10)] }])).not.toContain('class="spread"');
  });

  it("hatches programs without a framework", () => {
    const figure = barFigure("t", "u", [{ title: "g", bars: [bar(10, "ours"), bar(10, "bare")] }]);
    expect(figure).toContain('<pattern id="hatch"');
    expect(figure).toContain('class="bare"');
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
