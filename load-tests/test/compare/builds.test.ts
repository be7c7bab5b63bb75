import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "@jest/globals";
import { findCore, prepareBuilds } from "../../src/compare/builds.js";
import { Progress } from "../../src/progress.js";

describe("the builds of a comparison", () => {
  it.each(["no-such-tag", "--help", ""])("reject BASE=%s, which is not a commit", async (base) => {
    const quiet = new Progress({ write: () => undefined });
    await expect(prepareBuilds(base, quiet)).rejects.toThrow(`BASE=${base} names no commit and no tag`);
  });

  it.each([
    ["one of the packages", ["framework/package.json", "framework/core/package.json"], "framework/core"],
    ["the only package, in earlier commits", ["framework/package.json"], "framework"],
  ])("take the framework from its folder: %s", async (_, manifests, folder) => {
    const tree = await mkdtemp(path.join(tmpdir(), "tsgi-builds-"));
    try {
      for (const manifest of manifests) {
        await mkdir(path.dirname(path.join(tree, manifest)), { recursive: true });
        await writeFile(path.join(tree, manifest), "{}");
      }
      expect(findCore(tree)).toBe(path.join(tree, folder));
    } finally {
      await rm(tree, { recursive: true, force: true });
    }
  });
});
