import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "@jest/globals";

const repository = path.resolve(import.meta.dirname, "../..");
const WORKSPACES = ["framework", "sample-auth-app", "load-tests", "generators"];

type Row = ReadonlyMap<string, string>;

/** The rows of every table in a Markdown text, each cell under its column's name. */
function rowsOf(markdown: string): Row[] {
  const rows: Row[] = [];
  let columns: string[] = [];
  for (const line of markdown.split("\n")) {
    if (!line.startsWith("|")) {
      columns = [];
      continue;
    }
    const cells = line
      .slice(1, line.lastIndexOf("|"))
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim());
    if (columns.length === 0) columns = cells;
    else if (!cells.every((cell) => /^:?-+:?$/.test(cell))) {
      expect({ line, cells: cells.length }).toEqual({ line, cells: columns.length });
      rows.push(new Map(columns.map((column, index) => [column, cells[index] as string])));
    }
  }
  return rows;
}

/** A file as the page names it: below `folder` of the core, or from the root of the repository. */
function resolve(name: string, folder: "src" | "test"): string {
  const workspace = name.split("/")[0] as string;
  return path.join(repository, WORKSPACES.includes(workspace) ? name : path.join("framework/core", folder, name));
}

/** The titles in a test file: of tests and their groups, and of tables of them. */
function titlesOf(code: string): Set<string> {
  const literal =
    /(?:\b(?:it|test|describe)(?:\.\w+)*|\))\(\s*("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)/g;
  return new Set(
    [...code.matchAll(literal)].map((match) => (match[1] as string).slice(1, -1).replaceAll(/\\(.)/g, "$1")),
  );
}

const titles = new Map<string, Set<string>>();

/** Returns the error of a reference to a test, `file` and title, or `null`. */
function faultOf(reference: string): string | null {
  const match = /^`([^`]+\.test\.ts)` (.+)$/.exec(reference);
  if (match === null) return `is not written as \`file.test.ts\` title: ${reference}`;
  const [, name, title] = match as unknown as [string, string, string];
  const file = resolve(name, "test");
  if (!existsSync(file)) return `there is no ${name}`;
  if (!titles.has(file)) titles.set(file, titlesOf(readFileSync(file, "utf8")));
  return titles.get(file)?.has(title) ? null : `${name} has no test "${title}"`;
}

const rows = rowsOf(readFileSync(path.join(repository, "framework/docs/specification.md"), "utf8"));

describe("the page on the specification", () => {
  it("names tests that exist, with their titles", () => {
    const references = rows.flatMap((row) => row.get("Test")?.split("<br>") ?? []);
    expect(references.map(faultOf).filter((fault) => fault !== null)).toEqual([]);
    expect(references.length).toBeGreaterThan(50);
  });

  it("names modules that exist", () => {
    const modules = rows.flatMap((row) => row.get("Module")?.match(/[^`, ]+/g) ?? []);
    expect(modules.filter((name) => !existsSync(resolve(name, "src")))).toEqual([]);
    expect(modules.length).toBeGreaterThan(30);
  });

  it("has for each statement its module, and for each deviation the reason", () => {
    const empty = rows.filter((row) => [...row.values()].includes(""));
    expect(empty.map((row) => [...row.values()][0])).toEqual([]);
  });

  it("is read as it is written", () => {
    const [row] = rowsOf("text\n| A | Test |\n|---|---|\n| a \\| b | `x.test.ts` is `so`<br>`y.test.ts` is not |\n");
    expect([...(row?.values() ?? [])]).toEqual(["a \\| b", "`x.test.ts` is `so`<br>`y.test.ts` is not"]);
    const code =
      'it("says \\"a\\"", () => {}); it.each([["x"]])(`b ${1}`, f); describe.each(y)(\n  "c", g); call("d");';
    expect([...titlesOf(code)]).toEqual(['says "a"', "b ${1}", "c"]);
    expect(faultOf("`no-such.test.ts` does a thing")).toBe("there is no no-such.test.ts");
    expect(faultOf("framework/test/specification-doc.test.ts")).toMatch(/^is not written as/);
    expect(faultOf("`framework/test/specification-doc.test.ts` does a thing")).toMatch(/has no test "does a thing"$/);
    expect(faultOf("`framework/test/specification-doc.test.ts` is read as it is written")).toBeNull();
  });
});
