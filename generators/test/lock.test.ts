import { readdirSync } from "node:fs";
import { mkdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { withLock } from "../src/lock.js";
import { temporaryFolder } from "./support.js";

describe("a lock", () => {
  it("runs processes one after the other, and is removed afterwards", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "lock");
    const events: string[] = [];
    const work = (name: string) =>
      withLock(path, async () => {
        events.push(`${name} begins`);
        await new Promise((resolve) => setImmediate(resolve));
        events.push(`${name} ends`);
      });
    await Promise.all([work("one"), work("other")]);
    expect(events).toEqual(["one begins", "one ends", "other begins", "other ends"]);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it("is given back when the work fails", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "lock");
    await expect(withLock(path, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    await expect(withLock(path, async () => "done")).resolves.toBe("done");
  });

  it("is taken from a process that died with it", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "lock");
    await mkdir(path);
    const longAgo = new Date(Date.now() - 600_000);
    await utimes(path, longAgo, longAgo);
    await expect(withLock(path, async () => "done")).resolves.toBe("done");
  });
});
