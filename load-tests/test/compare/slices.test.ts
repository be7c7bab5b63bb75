import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { Builds } from "../../src/compare/builds.js";
import { measureInSlices } from "../../src/compare/slices.js";

/** A worker whose rows take the given number of microseconds per request, which records each slice. */
function worker(name: string, { us = 10, wrong = 0, end = false, log = "" }): string {
  return `import { appendFileSync } from "node:fs";
appendFileSync(${JSON.stringify(log)}, process.execArgv.join());
process.on("message", ({ row, requests }) => {
  appendFileSync(${JSON.stringify(log)}, "${name}" + row);
  ${end ? "process.exit(3);" : ""}
  process.send(${wrong} ? { fault: "${wrong} responses were wrong" } : { usedUs: requests * ${us} });
});
process.send({ names: ["GET /", "POST /"], faults: [] });`;
}

let folder = "";
let log = "";
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "tsgi-slices-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function builds(head: { us?: number; wrong?: number; end?: boolean }): Promise<Builds> {
  const made = await mkdtemp(path.join(folder, "pair-"));
  log = path.join(made, "log");
  const build = async (name: string, behaviour: object) => {
    const workload = path.join(made, name);
    await mkdir(path.join(workload, "compare"), { recursive: true });
    await writeFile(path.join(workload, "package.json"), '{ "type": "module" }');
    await writeFile(path.join(workload, "compare/slice-worker.js"), worker(name, { ...behaviour, log }));
    return { commit: name, workload: pathToFileURL(`${workload}/`) };
  };
  return { base: await build("base", {}), head: await build("head", head) };
}

describe("slices of two builds", () => {
  it("give the requests of each for each second of processor time", async () => {
    const reports = await measureInSlices(await builds({ us: 20 }), "direct", 1);
    expect(reports.base.rows).toEqual([
      { name: "GET /", figures: { perCPUSecond: 100_000 } },
      { name: "POST /", figures: { perCPUSecond: 100_000 } },
    ]);
    expect(reports.head.rows.map(({ figures }) => figures["perCPUSecond"])).toEqual([50_000, 50_000]);
  });

  it.each([
    [0, /^(?:base0head0)+(?:base0head0head0base0)+$/],
    [1, /^(?:head0base0)+(?:head0base0base0head0)+$/],
  ])("alternate, and neither build is always the first (pair %d)", async (pair, wanted) => {
    await measureInSlices(await builds({}), "direct", pair);
    const order = (await readFile(log, "utf8")).match(/(?:base|head)0/g)?.join("") ?? "";
    expect(order).toMatch(wanted);
  });

  it("hash strings with the same seed in both processes of a pair, and with another one in the next", async () => {
    const seedsOf = async (pair: number) => {
      await measureInSlices(await builds({}), "direct", pair);
      return [...(await readFile(log, "utf8")).matchAll(/--hash-seed=\d+/g)].map(String);
    };
    expect(await seedsOf(0)).toEqual(["--hash-seed=1", "--hash-seed=1"]);
    expect(await seedsOf(1)).toEqual(["--hash-seed=2", "--hash-seed=2"]);
  });

  it("end with a wrong response", async () => {
    await expect(measureInSlices(await builds({ wrong: 2 }), "direct", 0)).rejects.toThrow("2 responses were wrong");
  });

  it("end with a process that ends", async () => {
    await expect(measureInSlices(await builds({ end: true }), "direct", 0)).rejects.toThrow("ended with 3");
  });
});
