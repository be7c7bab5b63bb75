import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "@jest/globals";

const STATEMENTS = path.join(import.meta.dirname, "../../docs/statements.md");

/** The last cell of each row of the tables: the tests that hold a statement. */
function referencesIn(markdown: string): string[] {
  const rows = markdown.split("\n").filter((line) => line.startsWith("| ") && !/^\| (?:-|Statement)/.test(line));
  return rows.flatMap((row) => row.slice(0, -1).split("|").at(-1)!.trim().split("<br>"));
}

/** Returns the error of a reference to a test, a file and a title, or an empty string. */
function faultOf(reference: string): string | null {
  const [, name, title] = /^`([^`]+\.test\.ts)` (.+)$/.exec(reference) ?? [];
  if (name === undefined || title === undefined) {
    return `is not written as \`file.test.ts\` title: ${reference}`;
  }
  const file = path.join(import.meta.dirname, name);
  if (!existsSync(file)) {
    return `there is no ${name}`;
  }
  const literals = readFileSync(file, "utf8").matchAll(/\(\s*"((?:[^"\\\n]|\\.)*)"\s*,/g);
  return [...literals].some(([, literal]) => literal === title) ? null : `${name} has no test "${title}"`;
}

describe("the page of statements", () => {
  it("names tests that exist, with their titles", () => {
    const references = referencesIn(readFileSync(STATEMENTS, "utf8"));
    expect(references.map(faultOf).filter((fault) => fault !== null)).toEqual([]);
    expect(references.length).toBeGreaterThan(50);
  });
});
