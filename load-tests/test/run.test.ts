import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Result } from "../src/rounds.js";
import { runBench, type Parts } from "../src/run.js";
import { readSettings } from "../src/settings.js";

let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tsgi-run-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function run(results: Result[]): Promise<{ status: number; stdout: string; stderr: string; figures: unknown }> {
  const printed = { stdout: "", stderr: "" };
  const part = { measure: async () => results, table: () => "a table" };
  const parts: Parts = {
    direct: part,
    routing: part,
    http: part,
    database: part,
    middleware: part,
    payloads: part,
    latency: part,
    footprint: part,
    sample: part,
    startup: part,
    bundle: part,
    runtimes: part,
    types: part,
    realtime: part,
  };
  const output = join(folder, "new", "figures.json");
  const status = await runBench(
    readSettings({ ONLY: "direct", OUT: output }),
    {
      stdout: { write: (text: string) => (printed.stdout += text) },
      stderr: { write: (text: string) => (printed.stderr += text) },
    },
    parts,
  );
  return { status, ...printed, figures: JSON.parse(await readFile(output, "utf8")) };
}

describe("runBench", () => {
  it("prints the tables, writes the figures down, and gives 0 when every answer was right", async () => {
    const { status, stdout, stderr, figures } = await run([{ contender: "tsgi", rows: {}, faults: [] }]);
    expect(status).toBe(0);
    expect(stdout).toContain("\na table\n");
    expect(stderr).toBe("");
    expect(figures).toMatchObject({
      machine: { node: process.version },
      settings: { quick: false },
      sections: { direct: [{ contender: "tsgi" }] },
    });
  });

  it("gives 1 and names contender and fault when an answer was wrong", async () => {
    const { status, stderr } = await run([
      { contender: "tsgi", rows: {}, faults: [] },
      { contender: "a peer", rows: {}, faults: ["GET /health: expected the status 200, got 500"] },
    ]);
    expect(status).toBe(1);
    expect(stderr).toBe("wrong answer: a peer: GET /health: expected the status 200, got 500\n");
  });
});
