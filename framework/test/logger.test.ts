import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { BackgroundTasks } from "../src/background.js";
import { consoleLogger } from "../src/logger.js";

describe("the console logger", () => {
  let lines: string[] = [];
  beforeEach(() => {
    lines = [];
    jest.spyOn(console, "error").mockImplementation((line: string) => void lines.push(line));
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it.each<[string, unknown]>([
    [
      "a cycle",
      (() => {
        const cause: Record<string, unknown> = {};
        cause["self"] = cause;
        return new Error("x", { cause });
      })(),
    ],
    ["a bigint", new Error("x", { cause: { big: 1n } })],
    ["an object without prototype", Object.create(null)],
    ["a symbol", Symbol("s")],
    ["undefined", undefined],
  ])("writes %s without an error of its own", (_what, err) => {
    consoleLogger.error({ err, other: err }, "failed");
    expect(lines).toHaveLength(1);
  });

  it("shows the code of an error, unless its message has it already", () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED ::1:5432"), { code: "ECONNREFUSED" });
    const unknown = Object.assign(new Error("No such row.", { cause: refused }), { code: "P2025" });
    consoleLogger.error({ err: unknown }, "failed");
    const shown = lines
      .join("")
      .split("\n")
      .map((line) => line.trim());
    expect(shown).toContain("Error [P2025]: No such row.");
    expect(shown).toContain("Error: connect ECONNREFUSED ::1:5432");
  });

  it("keeps control characters out, wherever the text of a request got to", () => {
    const text = "a\n    at \r2026-01-01 INFO forged\u001b[2J\u2028";
    consoleLogger.error({ err: new Error(text, { cause: text }), path: text }, text);
    // oxlint-disable-next-line no-control-regex -- what must not be there
    expect(lines.join("")).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u2028]/);
    expect(
      lines
        .join("")
        .split("\n")
        .filter((line) => line.includes("INFO forged")),
    ).toHaveLength(3);
  });

  const range = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => String.fromCodePoint(from + index));

  const escaped = [
    ...range(0x00, 0x1f),
    ...range(0x7f, 0x9f),
    "\u061c",
    "\u200e",
    "\u200f",
    ...range(0x2028, 0x202e),
    ...range(0x2066, 0x2069),
  ].map((char) => [`U+${char.charCodeAt(0).toString(16).padStart(4, "0")}`, char] as const);

  it.each(escaped)("writes %s as its code, in a message, a field, its name, and an error", (_code, char) => {
    const error = new Error(`a${char}b`, { cause: `a${char}b` });
    error.name = `E${char}`;
    error.stack = `Error: a${char}b\n    at f${char}g (file.js)`;
    consoleLogger.error({ err: error, path: `a${char}b`, nested: { text: `a${char}b` }, [`k${char}`]: 1 }, `a${char}b`);
    const own = lines.join("").replaceAll("\n", "");
    expect(own).not.toContain(char);
    expect(lines).toHaveLength(1);
    if (char !== "\n") expect(lines.join("").split("\n")).toHaveLength(5);
  });

  it("is where a background task that fails is told, and the next still runs", async () => {
    const tasks = new BackgroundTasks();
    const notes: string[] = [];
    tasks.addTask(function failing() {
      throw new Error("x", { cause: { big: 1n } });
    });
    tasks.addTask(() => notes.push("next"));
    await tasks.run();
    expect(notes).toEqual(["next"]);
    expect(lines[0]).toContain("Background task failing failed");
  });
});
