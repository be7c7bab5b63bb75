import { describe, expect, it } from "@jest/globals";
import { Progress } from "../src/progress.js";

function record(
  isTTY: boolean,
  columns = 20,
): { isTTY: boolean; columns: number; text: string; write(text: string): void } {
  return {
    isTTY,
    columns,
    text: "",
    write(text: string) {
      this.text += text;
    },
  };
}

describe("Progress", () => {
  it("writes over one line of a terminal, cut to its width, and takes it away", () => {
    const terminal = record(true);
    const progress = new Progress(terminal);
    progress.step("a step with a rather long name");
    progress.clear();
    expect(terminal.text).toBe("\r\u001B[Ka step with a rathe\r\u001B[K");
  });

  it("takes a terminal that does not tell its width for 80 columns wide", () => {
    const terminal = record(true, 0);
    new Progress(terminal).step("x".repeat(100));
    expect(terminal.text).toBe(`\r\u001B[K${"x".repeat(79)}`);
  });

  it("writes a plain line for each step elsewhere", () => {
    const log = record(false);
    const progress = new Progress(log);
    progress.step("one");
    progress.step("two");
    progress.clear();
    expect(log.text).toBe("one\ntwo\n");
  });
});
