import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { installedBytes } from "../src/installed-size.js";

let folder = "";

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

const manifest = (dependencies: Record<string, string>): string => JSON.stringify({ dependencies }).padEnd(100);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tsgi-size-"));
  await write({
    "node_modules/a/package.json": manifest({ b: "1", c: "1" }),
    "node_modules/a/index.js": "x".repeat(1000),
    "node_modules/a/node_modules/c/package.json": manifest({ a: "1" }), // a circle
    "node_modules/b/package.json": manifest({ missing: "1" }),
    "node_modules/b/lib/index.js": "x".repeat(10),
    "node_modules/unused/package.json": manifest({}),
  });
});
afterAll(() => rm(folder, { recursive: true }));

describe("the size of what is installed", () => {
  it("counts each package that is needed once, wherever Node finds it, and no other", () => {
    expect(installedBytes(["a"], folder)).toBe(100 + 1000 + 100 + 100 + 10);
  });

  it("is nothing for a package that is not there", () => {
    expect(installedBytes(["none"], folder)).toBe(0);
  });
});
