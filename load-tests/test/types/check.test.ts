import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { PEER_SOURCES, REPOSITORY } from "../../src/paths.js";
import { check } from "../../src/types/check.js";
import { findCompilers } from "../../src/types/compilers.js";
import { faultsOfMistakes } from "../../src/types/mistakes.js";
import { type Sources, writeProgram, writeSources } from "../../src/types/sources.js";

const { newest } = findCompilers(false);

describe("a check of our routes and their client", () => {
  let sources: Sources;

  beforeAll(async () => {
    const cache = fileURLToPath(new URL(".cache/", REPOSITORY));
    await mkdir(cache, { recursive: true });
    // Inside the repository, where the sources find what they import.
    const folder = pathToFileURL(`${await mkdtemp(`${cache}types-`)}/`);
    sources = await writeSources(new URL("types/tsgi/", PEER_SOURCES), folder, 8);
  });
  afterAll(() => rm(sources.folder, { recursive: true }));

  it("finds no error, and tells time, memory and instantiations", async () => {
    const program = await writeProgram(sources, "all", (file) => file === "app.ts" || file.startsWith("calls"));
    const { errors, cpuMs, memoryMiB, instantiations } = await check(newest.path, program);
    expect(errors).toEqual([]);
    expect(Math.min(cpuMs, memoryMiB, instantiations)).toBeGreaterThan(0);
  }, 60_000);

  it("finds each mistake", async () => {
    expect(sources.files).toEqual(expect.arrayContaining(["mistakes.ts", "client-mistakes.ts"]));
    const few = await writeSources(new URL("types/tsgi/", PEER_SOURCES), sources.folder, 4);
    expect(await faultsOfMistakes(newest.path, few)).toEqual([]);
  }, 60_000);

  it("fails with the compiler's words when it does not run", async () => {
    await expect(check(newest.path, "/missing/tsconfig.json")).rejects.toThrow("/missing/tsconfig.json");
  });
});
