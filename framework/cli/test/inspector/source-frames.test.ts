import path from "node:path";
import { describe, expect, it } from "@jest/globals";
import { sourceFramesOf } from "../../src/inspector/source-frames.js";

const HERE = import.meta.dirname;

function thrown(message: string): Error {
  return new Error(message);
}

describe("the source frames of an error", () => {
  it("begin with the line that threw it, marked, with three lines before and after", () => {
    const [frame] = sourceFramesOf(thrown("broken"), HERE);
    expect(frame).toMatchObject({ name: "thrown", file: "source-frames.test.ts" });
    expect(frame?.source).toHaveLength(7);
    expect(frame?.source.filter((line) => line.startsWith(">"))).toEqual([
      `> ${frame?.line} |   return new Error(message);`,
    ]);
  });

  it("contain no file that only the message names", () => {
    const message = `x\n    at steal (${path.join(HERE, "tools.test.ts")}:1:1)`;
    const files = sourceFramesOf(thrown(message), HERE).map(({ file }) => file);
    expect(new Set(files)).toEqual(new Set(["source-frames.test.ts"]));
  });

  it.each([".env", "secrets.json", "file://elsewhere/x.ts", "file:///a%2fb.ts"])(
    "do not contain %s if the message was changed after its lines were in the stack",
    (file) => {
      const place = file.startsWith("file:") ? file : path.join(HERE, file);
      const error = thrown(`x\n    at steal (${place}:1:1)`);
      expect(error.stack).toContain("steal"); // the stack is made when it is first read
      error.message = "The order failed";
      const files = sourceFramesOf(error, HERE).map((frame) => frame.file);
      expect(new Set(files)).toEqual(new Set(["source-frames.test.ts"]));
    },
  );

  it("contain no file outside the folder or of a package", () => {
    expect(sourceFramesOf(thrown("broken"), path.join(HERE, "elsewhere"))).toEqual([]);
    const error = new Error("broken");
    error.stack = `Error: broken\n    at call (${path.join(HERE, "node_modules/x/index.js")}:1:1)`;
    expect(sourceFramesOf(error, HERE)).toEqual([]);
  });

  it("have no source if the file cannot be read", () => {
    const error = new Error("broken");
    error.stack = `Error: broken\n    at async run (file://${path.join(HERE, "missing.ts")}:3:1)`;
    expect(sourceFramesOf(error, HERE)).toEqual([{ name: "run", file: "missing.ts", line: 3, source: [] }]);
  });

  it.each([["a text"], [null], [Object.assign(new Error("x"), { stack: undefined })]])("of %p are empty", (error) => {
    expect(sourceFramesOf(error, HERE)).toEqual([]);
  });
});
