/** The page of each platform that `docs/deployment.md` links: its commands run, and a project has its files. */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";

import { type Block, blocksOf } from "../docs/_blocks.js";
import { cellsOf } from "../docs/_tables.js";
import { FRAMEWORK } from "../support/packages.js";
import { flagsOf, Terminal } from "./_commands.js";
import { createProjects, filesOf } from "./_project.js";

const DOCS = path.join(FRAMEWORK, "docs");
const read = (page: string) => readFileSync(path.join(DOCS, page), "utf8");
const sectionOf = (page: string, heading: string) =>
  read(page)
    .split(/^## /m)
    .find((text) => text.startsWith(heading)) ?? "";

const platforms = sectionOf("deployment.md", "Platforms");

/** The pages about a platform for which the command creates a project. Recipes have other tests, and so has one file. */
const pages = [...platforms.matchAll(/\]\(([a-z]+\.md)\)/g)]
  .map(([, page = ""]) => page)
  .filter((page) => page !== "platforms.md");

const commandsOf = (page: string) =>
  blocksOf(page, read(page)).filter(({ language, words }) => language === "sh" || words.includes("project"));

/** Programs that need an account, a cluster or a Docker Engine. */
const REMOTE = /^(?:aws|sam|docker|fly|kubectl|npx (?:vercel|netlify|wrangler)|npm run deploy)\b/;

/** The words of a command that name a file or a folder of the project. */
const pathsIn = ({ code }: Block) => code.split(/\s+/).flatMap((word) => /^([a-z]+\/|\.)$/.exec(word)?.[0] ?? []);

describe("deployment.md", () => {
  it("begins with the production checklist", () => {
    expect(/^## (.+)$/m.exec(read("deployment.md"))?.[1]).toBe("Production checklist");
  });

  it("links one page for each platform of --deploy, and for each runtime", () => {
    const named = [...platforms.matchAll(/`--(?:deploy|runtime) ([a-z]+)`/g)].map(([, name]) => name);
    const expected = ["lambda", "vercel", "netlify", "cloudflare", "fly", "kubernetes", "bun", "deno"];
    expect(named).toEqual(expected);
    expect(pages.length).toBe(named.length + 1);
    expect(platforms).toContain("](one-file.md)");
  });
});

const homes = realpathSync(mkdtempSync(path.join(tmpdir(), "tsgi-deploy-")));
let plain: readonly string[];

beforeAll(async () => {
  const flags = pages.map((page) => [path.join(homes, page, "work"), flagsOf(commandsOf(page))] as const);
  await createProjects({ ...Object.fromEntries(flags), [path.join(homes, "plain")]: ["--template", "minimal"] });
  plain = filesOf(path.join(homes, "plain/my-app"));
});

afterAll(() => rmSync(homes, { recursive: true, force: true }));

describe.each(pages)("%s", (page) => {
  const home = path.join(homes, page);
  const commands = commandsOf(page);
  let terminal: Terminal;

  beforeAll(() => {
    terminal = new Terminal(home);
  });

  afterAll(() => terminal[Symbol.asyncDispose]());

  it("has commands that run, and responses as shown", async () => {
    for (const block of commands) {
      expect({ line: block.line, unlike: await terminal.type(block) }).toEqual({ line: block.line, unlike: [] });
    }
    expect(path.basename(terminal.folder)).toBe("my-app");
  });

  it("lists the files that the platform adds to a project", () => {
    const listed = cellsOf(sectionOf(page, "Create the project")).flatMap(
      (cell) => /^`([^`]+)`$/.exec(cell)?.[1] ?? [],
    );
    expect(listed.length).toBeGreaterThan(1);
    expect(listed.filter((file) => !existsSync(path.join(terminal.folder, file)))).toEqual([]);
    const added = filesOf(terminal.folder).filter((file) => !plain.includes(file) && file !== "src/main.ts");
    const isOutput = (file: string) => /^(?:dist\/|\.wrangler\/|deno\.lock$)/.test(file);
    expect(added.filter((file) => !listed.includes(file) && !isOutput(file))).toEqual([]);
  });

  it("has remote commands that use files of the project", () => {
    const remote = commands.filter(({ words }) => words.includes("account"));
    expect(remote.length).toBeGreaterThan(0);
    for (const { code } of remote) for (const line of code.split("\n")) expect(line).toMatch(REMOTE);
    const missing = remote.flatMap(pathsIn).filter((name) => !existsSync(path.join(terminal.folder, name)));
    expect(missing).toEqual([]);
  });

  it.each(["Run locally", "Deploy", "Settings", "Limitations", "Logs"])("has a section: %s", (heading) => {
    expect(sectionOf(page, heading)).not.toBe("");
  });
});
