import { describe, expect, it } from "@jest/globals";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const BENCH = fileURLToPath(new URL("../dist/bench.js", import.meta.url));

async function bench(environment: Record<string, string>): Promise<{ status: number; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [BENCH], {
    env: { ...process.env, QUICK: "", PEERS: "", ONLY: "", ...environment },
  });
  const ended = new Promise<number>((resolve) => child.once("close", (status) => resolve(status ?? -1)));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { status: await ended, stdout, stderr };
}

describe("make bench", () => {
  it("measures in separate processes, prints a table, and exits with 0", async () => {
    const folder = await mkdtemp(join(tmpdir(), "tsgi-bench-"));
    const { status, stdout, stderr } = await bench({ QUICK: "1", ONLY: "routing", OUT: join(folder, "figures.json") });
    await rm(folder, { recursive: true });
    expect(stderr).toContain("routing, round 1 of 3\n");
    expect(stdout).toMatch(/^\| tsgi \| +[\d,]+ ±\d+ % \| +[\d,]+/m);
    expect(stdout).toContain("figures.json");
    expect(status).toBe(0);
  }, 30_000);

  it("prints the accepted values of a variable, and exits with 2", async () => {
    expect(await bench({ ONLY: "speed" })).toMatchObject({
      status: 2,
      stdout: "",
      stderr: 'Expected ONLY to name direct, routing, http, start, not "speed".\n',
    });
  }, 30_000);
});
