import { describe, expect, it } from "@jest/globals";
import type { Result } from "../src/rounds.js";
import { summarize } from "../src/statistics.js";
import { TABLES } from "../src/tables.js";

function result(contender: string, row: string, figures: Record<string, number>, faults: string[] = []): Result {
  const summaries = Object.entries(figures).map(([name, figure]) => [name, summarize([figure, figure, figure])]);
  return { contender, rows: faults.length === 0 ? { [row]: Object.fromEntries(summaries) } : {}, faults };
}

/** The lines of a table, each space once. */
function draw(name: string, ...results: readonly Result[]): string[] {
  const table = TABLES.find((one) => one.name === name);
  return (table?.draw(results) ?? "").split("\n").map((line) => line.replaceAll(/ +/g, " "));
}

describe("a table of rates", () => {
  it("has rates, spreads and ratios", () => {
    const [ours, byHand, peer] = [1_000_000, 2_000_000, 100_000].map((perSecond) => ({ perSecond }));
    const lines = draw(
      "direct",
      result("tsgi", "GET /health", ours ?? {}),
      result("hand-written ASGI", "GET /health", byHand ?? {}),
      result("Hono fetch", "GET /health", peer ?? {}),
    );
    expect(lines).toEqual([
      "| | `GET /health` |",
      expect.stringMatching(/^\| -+ \| -+: \|$/),
      "| tsgi | 1,000,000 ±0 % |",
      "| hand-written ASGI | 2,000,000 ±0 % · 0.50× |",
      "| Hono fetch | 100,000 ±0 % · 10× |",
    ]);
  });

  it("marks a framework with a wrong response and shows no number for it", () => {
    const lines = draw(
      "direct",
      result("tsgi", "GET /health", { perSecond: 1 }),
      result("Hono fetch", "GET /health", { perSecond: 5 }, ["GET /health: wrong"]),
    );
    expect(lines.at(-1)).toBe("| Hono fetch (wrong) | – |");
  });

  it("marks a rate that is the client's, and not the processor time", () => {
    const ours = result("tsgi serve", "GET /health", { perSecond: 10, perCPUSecond: 10, clientLoad: 1, serverLoad: 1 });
    const theirs = { perSecond: 20, perCPUSecond: 20, clientLoad: 0.97, serverLoad: 0.8 };
    const others = result("Hono", "GET /health", theirs);
    expect(draw("http", ours, others)).toEqual(
      expect.arrayContaining([
        "| tsgi serve | 10 ±0 % |",
        "| Hono | 20* ±0 % · 0.50× |",
        "\\* Limited by the load generator: its core was fully used, the server's was not.",
      ]),
    );
    expect(draw("http, processor time", ours, others).join("\n")).not.toContain("*");
  });

  it("reports that it was not measured", () => {
    expect(draw("database")).toEqual(["Not measured in this run."]);
  });
});

describe("the table of start and memory", () => {
  it("shows empty cells for missing results", () => {
    const figures = { startMs: 120, loadedMiB: 0 };
    expect(draw("footprint", result("tsgi serve", "footprint", figures)).at(-1)).toBe("| tsgi serve | 120 ms | – |");
  });
});
