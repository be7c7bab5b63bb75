import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "@jest/globals";

import { drawTerminal } from "./_terminal-picture.js";
import { TERMINALS } from "./_terminals.js";
import { REPOSITORY } from "../docs/_project.js";
import { IS_SLOW } from "../support/on-demand.js";

const FOLDER = path.join(REPOSITORY, "framework/site/public");
const DOCS = path.join(REPOSITORY, "framework/docs");

/** A picture is part of every clone, and of the first impression. */
const MAX_BYTES = 120 * 1024;

const pictures = readdirSync(FOLDER);
const README = path.join(REPOSITORY, "README.md");
const pages = [
  README,
  path.join(REPOSITORY, "sample-auth-app/README.md"),
  ...readdirSync(DOCS)
    .filter((name) => name.endsWith(".md"))
    .map((name) => path.join(DOCS, name)),
];
const slow = IS_SLOW ? it : it.skip;

describe("the pictures of the documentation", () => {
  it("are small", () => {
    expect(pictures.filter((name) => statSync(path.join(FOLDER, name)).size > MAX_BYTES)).toEqual([]);
    expect(pictures.length).toBeGreaterThan(5);
  });

  /** The pictures of a page, as Markdown or with a width as HTML. */
  const shownOn = (page: string) => {
    const text = readFileSync(page, "utf8");
    return [
      ...text.matchAll(/!\[(?<alt>[^\]]*)\]\([^)]*site\/public\/(?<name>[^)]+)\)/g),
      ...text.matchAll(/<img src="[^"]*site\/public\/(?<name>[^"]+)" width="\d+" alt="(?<alt>[^"]*)" \/>/g),
    ].map(({ groups }) => ({ name: groups?.["name"], alt: groups?.["alt"] }));
  };

  it("are each shown on a page, with a text for screen readers", () => {
    const shown = pages.filter((page) => page.endsWith(".md")).flatMap(shownOn);
    expect(new Set(shown.map(({ name }) => name))).toEqual(new Set(pictures));
    for (const { alt } of shown) expect(alt?.length).toBeGreaterThan(20);
  });

  it("are three in the README, which has at most 150 lines", () => {
    expect(shownOn(README)).toHaveLength(3);
    expect(readFileSync(README, "utf8").split("\n").length).toBeLessThanOrEqual(151);
  });

  // Times are another run's.
  const timeless = (svg: string) =>
    svg
      .replaceAll(/ textLength="[\d.]+"/g, "")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "(time)")
      .replaceAll(/\d+ ms/g, "(time)");

  for (const [name, record] of Object.entries(TERMINALS)) {
    slow(`show the current output of a terminal: ${name} (make pictures updates them)`, async () => {
      const picture = readFileSync(path.join(FOLDER, name), "utf8");
      expect(timeless(picture)).toBe(timeless(drawTerminal(await record())));
    });
  }
});

describe("a picture of a terminal", () => {
  it("breaks long lines as a terminal does, keeps indents, and escapes its content", () => {
    const svg = drawTerminal({ title: "a & b", text: `$ type\n${"x".repeat(85)}\n  <b>` });
    expect(svg).toContain('aria-label="A terminal: a &amp; b"');
    expect(
      [...svg.matchAll(/<text(?: class="typed")? x="([\d.]+)"[^>]*>([^<]+)</g)].map(([, x, text]) => [x, text]),
    ).toEqual([
      ["16", "$ type"],
      ["16", "x".repeat(84)],
      ["16", "x"],
      ["31", "&lt;b&gt;"],
    ]);
  });
});
