import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Contest } from "../src/pairs/measure.js";
import type { Result } from "../src/rounds.js";
import { runBench } from "../src/run.js";
import { readSettings } from "../src/settings.js";
import { summarize } from "../src/statistics.js";

let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tsgi-run-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function run(results: Result[], launch: Contest["launch"]) {
  const printed = { stdout: "", stderr: "" };
  const output = join(folder, "new", "figures.json");
  const contest: Contest = { section: "http", ours: "tsgi serve", theirs: "bare node:http", seconds: 30, launch };
  const status = await runBench(
    readSettings({ ONLY: "direct,http", OUT: output }),
    {
      stdout: { write: (text: string) => (printed.stdout += text) },
      stderr: { write: (text: string) => (printed.stderr += text) },
    },
    {
      direct: async () => results,
      routing: async () => [],
      http: async () => [loaded],
      contests: async () => ({ contests: [contest], [Symbol.asyncDispose]: async () => {} }),
    },
  );
  return { status, ...printed, figures: JSON.parse(await readFile(output, "utf8")) };
}

const right = { contender: "tsgi", rows: { "GET /": { perSecond: summarize([1234]) } }, faults: [] };
const loaded = {
  contender: "tsgi serve",
  rows: { "GET /health": { perSecond: summarize([31_234]), p50: summarize([1]), p99: summarize([4]) } },
  faults: [],
};
const launched = async () => [{ name: "GET /health", ratio: 2, cost: { ours: 10, theirs: 20 } }];

describe("runBench", () => {
  it("prints the tables, stores the results, and returns 0 if every response was right", async () => {
    const { status, stdout, figures } = await run([right], launched);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^\| tsgi \| +1,230 ±0 % \|$/m);
    expect(stdout).toMatch(/^\| `GET \/health` \| +31,200 \| +1 ms \| +4 ms \|$/m);
    expect(stdout).toMatch(/^\| bare node:http \| +2\.00× \(2\.00–2\.00\) \|$/m);
    expect(figures).toMatchObject({
      machine: { node: process.version },
      quick: false,
      protocol: { direct: [{ contender: "tsgi" }], http: [{ contender: "tsgi serve" }] },
      sections: { http: { comparisons: [{ ours: "tsgi serve", ratios: [2, 2, 2, 2] }] } },
    });
  });

  it("prints how long it takes before it begins, and its progress", async () => {
    const { stdout, stderr } = await run([right], launched);
    expect(stdout).toContain("1 pair of programs: about 2 minutes, at most 60 s.\n");
    expect(stderr).toContain(
      "http, launch 4: tsgi serve and bare node:http (0 of 1 pairs are settled, at most 60 s left)\n",
    );
  });

  it("returns 1 and prints program and error if a response was wrong", async () => {
    const { status, stderr } = await run([{ ...right, faults: ["GET /: got 500"] }], async () => {
      throw new Error("GET /health: expected the status 200, got 500");
    });
    expect(status).toBe(1);
    expect(stderr).toContain("wrong response: tsgi: GET /: got 500\n");
    expect(stderr).toContain("wrong response: http, bare node:http: GET /health: expected the status 200, got 500\n");
  });
});
