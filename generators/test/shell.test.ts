import { describe, expect, it } from "@jest/globals";
import { isPlace } from "../src/arguments.js";
import { editCommand, quotePath } from "../src/shell.js";

describe("a path in a command", () => {
  it.each([
    ["linux", "../apps/shop", "../apps/shop"],
    ["linux", "it's here", String.raw`'it'\''s here'`],
    ["linux", String.raw`a\b`, String.raw`'a\b'`],
    ["win32", String.raw`C:\apps\shop`, String.raw`C:\apps\shop`],
    ["win32", String.raw`..\my apps`, String.raw`"..\my apps"`],
  ] as const)("is quoted for the shell of %s: %s", (platform, path, quoted) => {
    expect(quotePath(path, platform)).toBe(quoted);
  });

  it.each([
    ["linux", "$EDITOR .env"],
    ["win32", "notepad .env"],
  ] as const)("is opened in an editor on %s", (platform, command) => {
    expect(editCommand(".env", platform)).toBe(command);
  });
});

describe("a path instead of a name", () => {
  it.each(["linux", "win32"] as const)("is told from a name on %s", (platform) => {
    expect([".", "..", "../shop", "@../shop"].map((word) => isPlace(word, platform))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    expect(["shop", "@scope/shop"].map((word) => isPlace(word, platform))).toEqual([false, false]);
  });

  it("may have backslashes on Windows", () => {
    const words = [String.raw`..\apps\shop`, String.raw`C:\apps\shop`];
    expect(words.map((word) => isPlace(word, "win32"))).toEqual([true, true]);
    expect(words.map((word) => isPlace(word, "linux"))).toEqual([false, false]);
  });
});
