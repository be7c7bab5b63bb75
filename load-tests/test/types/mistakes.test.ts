import { describe, expect, it } from "@jest/globals";
import { compareMistakes } from "../../src/types/mistakes.js";

const SOURCE = "const a = 1;\na.length; // wrong\na.size; // wrong\n";
const errorAt = (file: string, line: number) => `../${file}(${line},3): error TS2339: Property does not exist.`;

describe("the comparison of mistakes", () => {
  it("has nothing to say when each is found, also by several errors", () => {
    const errors = [2, 2, 3].map((line) => errorAt("mistakes.ts", line));
    expect(compareMistakes("mistakes.ts", SOURCE, errors)).toEqual([]);
  });

  it("names a mistake that was not found", () => {
    expect(compareMistakes("mistakes.ts", SOURCE, [errorAt("mistakes.ts", 2)])).toEqual([
      "expected an error in line 3 of mistakes.ts, got none",
    ]);
  });

  it.each([errorAt("mistakes.ts", 1), errorAt("items0.ts", 2)])("names the error elsewhere: %s", (error) => {
    const errors = [errorAt("mistakes.ts", 2), errorAt("mistakes.ts", 3), error];
    expect(compareMistakes("mistakes.ts", SOURCE, errors)).toEqual([error]);
  });
});
