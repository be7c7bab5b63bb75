import { describe, expect, it } from "@jest/globals";
import { prepareBuilds } from "../../src/compare/builds.js";
import { Progress } from "../../src/progress.js";

describe("the builds of a comparison", () => {
  it.each(["no-such-tag", "--help", ""])("refuse BASE=%s, which names no commit", async (base) => {
    const quiet = new Progress({ write: () => undefined });
    await expect(prepareBuilds(base, quiet)).rejects.toThrow(`BASE=${base} names no commit and no tag`);
  });
});
