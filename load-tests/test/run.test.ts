import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

async function run(results: Result[]): Promise<{ status: number; stdout: string; stderr: string; figures: unknown }> {
  const printed = { stdout: "", stderr: "" };
  const measure = async () => results;
  const output = join(folder, "new", "figures.json");
  const status = await runBench(
    readSettings({ ONLY: "direct", OUT: output }),
    {
      stdout: { write: (text: string) => (printed.stdout += text) },
      stderr: { write: (text: string) => (printed.stderr += text) },
    },
    {
      direct: measure,
      routing: measure,
      http: measure,
      database: measure,
      runtimes: measure,
      footprint: measure,
    },
  );
  return { status, ...printed, figures: JSON.parse(await readFile(output, "utf8")) };
}

const right = { contender: "tsgi", rows: { "GET /": { perSecond: summarize([1234]) } }, faults: [] };

describe("runBench", () => {
  it("prints the tables, stores the results, and returns 0 if every response was right", async () => {
    const { status, stdout, stderr, figures } = await run([right]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^\| tsgi \| +1,230 \|$/m);
    expect(stderr).toBe("");
    expect(figures).toMatchObject({
      machine: { node: process.version },
      settings: { quick: false },
      sections: { direct: [{ contender: "tsgi" }] },
    });
  });

  it("reports a section that was not measured", async () => {
    expect((await run([])).stdout).toContain("direct: not measured");
  });

  it("returns 1 and prints framework and error if a response was wrong", async () => {
    const { status, stderr } = await run([
      right,
      { contender: "a peer", rows: {}, faults: ["GET /health: expected the status 200, got 500"] },
    ]);
    expect(status).toBe(1);
    expect(stderr).toBe("wrong response: a peer: GET /health: expected the status 200, got 500\n");
  });
});
