import { describe, expect, it } from "@jest/globals";
import { summarize } from "../src/statistics.js";
import { ratesTable, ratiosTable } from "../src/tables.js";
import { comparison, settled } from "./_comparisons.js";

/** The lines of a table, each space once. */
const linesOf = (table: string): string[] => table.split("\n").map((line) => line.replaceAll(/ +/g, " "));

describe("a table of ratios", () => {
  it("has the cost of ours once, and the ratio of each pair with its interval", () => {
    const table = ratiosTable([
      settled("Hono", "GET /users/{id}", 1.5),
      settled("Hono", "POST /users", 12),
      settled("Express", "GET /users/{id}", 8),
    ]);
    expect(linesOf(table)).toEqual([
      "| | `GET /users/{id}` | `POST /users` |",
      expect.stringMatching(/^\| -+ \| -+: \| -+: \|$/),
      "| _tsgi serve_ | _10 µs_ | _10 µs_ |",
      "| Hono | 1.50× (1.50–1.50) | 12× (12–12) |",
      "| Express | 8.00× (8.00–8.00) | – |",
    ]);
  });

  it("names both programs of a pair if there are several of ours", () => {
    const table = ratiosTable([settled("Hono", "GET /", 1), settled("Hono", "GET /", 1, "tsgi app.fetch")]);
    expect(linesOf(table).slice(2)).toEqual([
      "| _tsgi serve_ | _10 µs_ |",
      "| _tsgi app.fetch_ | _10 µs_ |",
      "| tsgi serve / Hono | 1.00× (1.00–1.00) |",
      "| tsgi app.fetch / Hono | 1.00× (1.00–1.00) |",
    ]);
  });

  it("marks a ratio that is not settled: its interval is wide, or there were few launches", () => {
    const wide = comparison("Hono", "GET /", [1, 2, 1, 2]);
    const few = comparison("Express", "GET /", [5, 5]);
    const lines = linesOf(ratiosTable([wide, few]));
    expect(lines[3]).toMatch(/^\| Hono \| 1\.4\d× \(.*\)\? \|$/);
    expect(lines[4]).toBe("| Express | 5.00× (5.00–5.00)? |");
    expect(lines.at(-1)).toMatch(/^\\\? The interval is wider than ±5 %/);
  });

  it("has the unit of a row that has another one", () => {
    expect(linesOf(ratiosTable([settled("Hono", "first response, ms", 1)]))[2]).toBe("| _tsgi serve_ | _10 ms_ |");
  });

  it("reports that it was not measured", () => {
    expect(ratiosTable([])).toBe("Not measured in this run.");
  });
});

describe("a table of rates", () => {
  it("has rates and spreads, and marks a program with a wrong response", () => {
    const right = { contender: "tsgi", rows: { "GET /": { perSecond: summarize([90, 100, 110]) } }, faults: [] };
    const wrong = { contender: "hand-written ASGI", rows: {}, faults: ["GET /: wrong"] };
    expect(linesOf(ratesTable([right, wrong])).slice(2)).toEqual([
      "| tsgi | 100 ±10 % |",
      "| hand-written ASGI (wrong) | – |",
    ]);
  });
});
