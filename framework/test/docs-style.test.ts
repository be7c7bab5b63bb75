import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "@jest/globals";

import { blocksOf } from "./docs/_blocks.js";
import { REPOSITORY } from "./docs/_project.js";
import { cellsOf } from "./docs/_tables.js";

const DOCS = path.join(REPOSITORY, "framework/docs");
const read = (file: string) => readFileSync(path.join(DOCS, file), "utf8");

const pages = readdirSync(DOCS, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"));
const recipes = pages.filter((name) => /^cookbook\/[a-z]/.test(name));

/** Made from the catalogue of errors, and a table of statements with their tests. */
const MADE_BY_PROGRAMS = new Set(["errors.md", "specification.md"]);
const written = pages.filter((name) => !MADE_BY_PROGRAMS.has(name));

describe("the pages of the documentation", () => {
  it("have tables whose cells are short: a long text is prose", () => {
    const long = written.flatMap((page) =>
      cellsOf(read(page))
        .filter((cell) => cell.length > 120)
        .map((cell) => `${page}: ${cell}`),
    );
    expect(long).toEqual([]);
  });

  it("have samples of at most 88 characters per line, except for drawings and messages", () => {
    const long = pages.flatMap((page) =>
      blocksOf(page, read(page))
        .filter(({ language }) => language !== "" && language !== "text")
        .flatMap(({ code }) => code.split("\n"))
        .filter((line) => line.length > 88)
        .map((line) => `${page}: ${line}`),
    );
    expect(long).toEqual([]);
  });

  it("are in the sidebar of the site, and recipes in the list of the cookbook", () => {
    const sidebar = readFileSync(path.join(REPOSITORY, "framework/site/sidebar.js"), "utf8");
    const list = read("cookbook/README.md");
    const missing = pages.filter((page) =>
      recipes.includes(page)
        ? !list.includes(`](${path.basename(page)})`)
        : !page.endsWith("README.md") && !sidebar.includes(`"/${page.slice(0, -".md".length)}"`),
    );
    expect(missing).toEqual([]);
  });
});

describe("the cookbook", () => {
  it.each(recipes)("has words to be found by, a sample, and remarks: %s", (page) => {
    const text = read(page);
    expect(text).toMatch(/^# .+\n\n<!-- search: .+, .+ -->\n\n[A-Z`]/);
    expect(blocksOf(page, text).length).toBeGreaterThan(0);
    expect(text.match(/^## .+$/gm)?.at(-1)).toBe("## Watch out for");
    expect(text.split("\n").length).toBeLessThan(120);
  });

  it("has at least forty recipes", () => {
    expect(recipes.length).toBeGreaterThan(40);
  });
});

describe("the glossary", () => {
  it("has at most forty terms, each once", () => {
    const terms = [...read("glossary.md").matchAll(/^\*\*([^*]+)\*\*/gm)].map(([, term]) => term);
    expect(new Set(terms).size).toBe(terms.length);
    expect(terms.length).toBeLessThanOrEqual(40);
  });
});

it("reads the cells of a table", () => {
  expect(cellsOf("| a \\| b | `c` |\n| --- | --- |")).toEqual(["a \\| b", "`c`"]);
});
