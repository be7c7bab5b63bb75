/** Short runs of the fuzzer. `npm run fuzz` runs it for longer. */
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "@jest/globals";
import * as fc from "../../../../test/support/fast-check.js";
import { createTarget } from "./_fuzz-target.js";
import { targets } from "./_fuzz-targets.js";

/** About a second each with TSGI_SLOW=1. */
const COUNTS: Readonly<Record<string, number>> = { http1: 300, chunked: 3000, head: 2000, websocket: 500 };

describe("the fuzzer", () => {
  it.each([...targets])("finds no difference: %s", async (name, open) => {
    await using target = await open();
    expect(await target.tryInputs(1, fc.runs(COUNTS[name] as number))).toBeNull();
  });

  it("reports an input that is as short as possible, always the same for a seed", async () => {
    await using target = createTarget(fc.string({ maxLength: 100 }), (text) => {
      if (text.length > 3) throw new RangeError("too long");
    });
    const report = await target.tryInputs(1, 100);
    expect(report).toMatch(/Counterexample: \["(?:[^"\\]|\\.){4}"\]/);
    expect(report).toContain("RangeError: too long");
    const counterexample = report?.split("\n").slice(0, 3);
    expect((await target.tryInputs(1, 100))?.split("\n").slice(0, 3)).toEqual(counterexample);
  });

  it("accepts a target, minutes and a seed on its command line", async () => {
    const folder = path.resolve(import.meta.dirname, "../../../..");
    const fuzz = (...args: string[]) =>
      promisify(execFile)(process.execPath, ["--import", "tsx", "core/test/platforms/node/_fuzz.ts", ...args], {
        cwd: folder,
      });
    const { stdout } = await fuzz("--target", "chunked", "--minutes", "0", "--seed", "7");
    expect(stdout).toBe("Fuzzing chunked for 0 minutes from seed 7 on.\n1000 inputs without a finding\n");
    await expect(fuzz("--target", "tea")).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--target http1|chunked|head|websocket,"),
    });
  });
});
