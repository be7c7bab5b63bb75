import { describe, expect, it } from "@jest/globals";
import { isFileName } from "../../src/http/file-name.js";

const NAMES = ["index.html", "a b.txt", ".well-known", "é.png", "console.js", "nulls", "a~b"];

describe("the name of a file", () => {
  it.each(["linux", "darwin", "win32"] as const)("is an ordinary one on %s", (platform) => {
    expect(NAMES.filter((name) => !isFileName(name, platform))).toEqual([]);
  });

  it.each(["linux", "win32"] as const)("is not a path on %s", (platform) => {
    expect([".", "..", "a/b", "a\\b", "a\u0000"].filter((name) => isFileName(name, platform))).toEqual([]);
  });

  it("is on Windows not another name of a file, a drive or a device", () => {
    const names = [".env::$DATA", ".env.", ".env ", "GIT~1", "C:", "C:secret", "NUL", "com1.txt", "aux.h", "a?", "a\n"];
    expect(names.filter((name) => isFileName(name, "win32"))).toEqual([]);
    expect(names.filter((name) => !isFileName(name, "linux"))).toEqual([]);
  });
});
