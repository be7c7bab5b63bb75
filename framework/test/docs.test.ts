import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { isDeepStrictEqual, promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";

import { type Block, blocksOf, fileOf, printsOf, stepsOf } from "./docs/_blocks.js";
import { AppServer, isAsShown, missingFor, typeIn } from "./docs/_console.js";
import { examplesOf, outputsOf, run as runExamples, VARIABLES } from "./docs/_examples.js";
import { findBrokenLinks } from "./docs/_links.js";
import { describedMistakes, isThrown, keysOf, mistakesOf } from "./docs/_messages.js";
import { findNginxFault, HAS_NGINX } from "./docs/_nginx.js";
import { DocsProject, REPOSITORY } from "./docs/_project.js";
import { IS_SLOW } from "./support/on-demand.js";

/** A compiler, or a process for each program. */
const LONG_MS = 300_000;

/** Blocks with one of these words are the other side of a comparison, whose packages are not here. */
const PEERS = new Set(
  "astro drizzle express fastify hono koa kysely nestjs next packaged prisma react-router sveltekit vite".split(" "),
);

/** pg-boss needs Node 22.12. */
const HAS_PG_BOSS = Number.parseInt(process.versions.node) >= 22;

const run = promisify(execFile);

const filesIn = (folder: string, end: string) =>
  readdirSync(path.join(REPOSITORY, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(end))
    .map((name) => `${folder}/${name}`);
const read = (file: string) => readFileSync(path.join(REPOSITORY, file), "utf8");

/** The folders of the published packages. */
const packages = readdirSync(path.join(REPOSITORY, "framework"))
  .map((name) => `framework/${name}`)
  .filter((folder) => existsSync(path.join(REPOSITORY, folder, "package.json")));

const pages = [
  ...readdirSync(REPOSITORY).filter((name) => name.endsWith(".md")),
  ...packages.map((folder) => `${folder}/README.md`),
  "generators/README.md",
  "load-tests/README.md",
  "sample-auth-app/README.md",
  ...filesIn("framework/docs", ".md"),
];
const sources = packages
  .filter((folder) => existsSync(path.join(REPOSITORY, folder, "src")))
  .flatMap((folder) => filesIn(`${folder}/src`, ".ts"));
const blocks = [...pages, ...sources].flatMap((file) => blocksOf(file, read(file)));
const code = blocks.filter(({ language, words }) => language === "ts" && !words.some((word) => PEERS.has(word)));
const ERRORS = "framework/docs/errors.md";
const examples = examplesOf(ERRORS, read(ERRORS));
const title = (block: Block) => `${block.page}:${block.line}`;

describe("the documentation", () => {
  let project: DocsProject;

  beforeAll(async () => {
    project = await DocsProject.create([...code, ...examples.map(({ block }) => block)]);
  });

  afterAll(() => project[Symbol.asyncDispose]());

  it(
    "has TypeScript that compiles under strict",
    async () => {
      expect(await project.compile()).toEqual([]);
      expect(code.length).toBeGreaterThan(60);
    },
    LONG_MS,
  );

  it("has an example and figures for the first page of the site", async () => {
    const site: string = new URL("../site/home.js", import.meta.url).href;
    const { makeHome }: { makeHome: (parts: Record<string, string>) => string } = await import(site);
    const home = makeHome({
      readme: read("framework/core/README.md"),
      benchmarks: read("framework/docs/benchmarks.md"),
      version: "0.0.0",
    });
    const frameworks = [...home.matchAll(/<th scope="row">(\w+)<\/th>.*?<td>([\d.]+)<\/td>/g)].map(([, name]) => name);
    expect(frameworks).toEqual(expect.arrayContaining(["tsgi", "Fastify", "Hono", "Express"]));
    expect(home).not.toContain("NaN");
  });

  // A program that serves and does not close ends never, and its port may be another's: the terminals of the pages are for those.
  const ends = ({ code: text }: Block) => !text.includes("serve(") || text.includes("server.close()");
  const programs = code.filter((block) => printsOf(block).length > 0 && ends(block));
  const tests = code.filter((block) => fileOf(block)?.endsWith(".test.ts"));
  it.each(tests.map((block) => ({ block, title: title(block) })))(
    "has tests that pass: $title",
    async ({ block }) => {
      const flags = ["--test", "--test-reporter=tap"];
      const { stdout } = await run(process.execPath, [...flags, project.compiled(block)], { timeout: LONG_MS / 2 });
      expect(stdout).toContain("# pass 1");
    },
    LONG_MS,
  );

  let outputs: readonly string[] = [];
  it(
    "has programs that end",
    async () => {
      outputs = await outputsOf(programs.map((block) => project.compiled(block)));
      expect(outputs).toHaveLength(programs.length);
    },
    LONG_MS,
  );

  it.each(programs.map((block, index) => ({ block, index, title: title(block) })))(
    "has the documented output: $title",
    ({ block, index }) => {
      expect(outputs[index]?.trimEnd().split("\n")).toEqual(printsOf(block));
    },
  );

  // Those that access a file or a server of the reader's are only compiled.
  const examplesOfSources = code.filter(
    ({ page, code: text }) =>
      page.endsWith(".ts") && !/serve\(|listen\(|"\.\/|openRedisStore\(|writeClient\(/.test(text),
  );
  it(
    "has examples in doc comments that run",
    async () => {
      const thrown = await runExamples(examplesOfSources.map((block) => project.compiled(block)));
      const failed = examplesOfSources.map((block, index) => ({ title: title(block), thrown: thrown[index] ?? null }));
      expect(failed.filter((one) => one.thrown !== null)).toEqual([]);
      expect(examplesOfSources.length).toBeGreaterThan(70);
    },
    LONG_MS,
  );

  const examplesOfReadmes = code.filter(({ page }) => packages.some((folder) => page === `${folder}/README.md`));
  it(
    "has an example that runs in the README of each package",
    async () => {
      expect(new Set(examplesOfReadmes.map(({ page }) => page)).size).toBe(packages.length);
      const thrown = await runExamples(examplesOfReadmes.map((block) => project.compiled(block)));
      const failed = examplesOfReadmes.map((block, index) => ({ title: title(block), thrown: thrown[index] ?? null }));
      expect(failed.filter((one) => one.thrown !== null)).toEqual([]);
    },
    LONG_MS,
  );

  // Those with the word of a peer have a separate test, and so has a project of the pages about platforms.
  const isElsewhere = (word: string) => PEERS.has(word) || word === "project";
  let apps: AppServer;
  beforeAll(() => void (apps = new AppServer()));
  afterAll(() => apps[Symbol.asyncDispose]());
  const terminals = blocks.filter(({ language, words }) => language === "console" && !words.some(isElsewhere));
  for (const block of terminals) {
    const missing = missingFor(block);
    const ifInstalled = missing === null ? it : it.skip;
    ifInstalled(
      `responds as documented: ${title(block)}${missing === null ? "" : ` (${missing})`}`,
      async () => {
        const before = code.filter((one) => one.page === block.page && one.line < block.line);
        const program = before.map(fileOf).findLast((file) => /(^|\/)(app|main)\.ts$/.test(file ?? ""));
        expect(program).toBeDefined();
        const steps = stepsOf(block);
        const answers = await typeIn(apps, project.compiled(before.at(-1) as Block, program as string), steps);
        const unlike = steps
          .map((step, index) => ({ ...step, answer: answers[index] as string }))
          .filter(({ output, answer }) => !isAsShown(answer, output));
        expect(unlike).toEqual([]);
      },
      LONG_MS,
    );
  }

  const slow = IS_SLOW ? it : it.skip;
  slow(
    "registers its examples without an error",
    async () => {
      // One that serves, or finds a Redis, does not end.
      const applications = code.filter(
        (block) =>
          /new App\(/.test(block.before + block.code) &&
          !/serve\(|listen\(|redis:|writeClient/.test(block.code) &&
          (HAS_PG_BOSS || !block.code.includes("new Jobs({ url:")),
      );
      const files = applications.map((block) => project.compiled(block));
      expect(await outputsOf(files, VARIABLES)).toHaveLength(files.length);
      expect(files.length).toBeGreaterThan(50);
    },
    LONG_MS,
  );

  it("shows the name of each block that is a file", () => {
    const unnamed = code.filter((block) => {
      const file = fileOf(block);
      if (file === null) return false;
      const lines = read(block.page)
        .split("\n")
        .slice(0, block.line - 2);
      return lines.at(-2) !== `**\`${file}\`**` && lines.lastIndexOf("<!--") <= lines.lastIndexOf("-->");
    });
    expect(unnamed.map(title)).toEqual([]);
  });

  it("has JSON that is JSON", () => {
    const texts = blocks.filter(({ language }) => language === "json");
    for (const block of texts) expect(() => JSON.parse(block.code) as unknown).not.toThrow();
    expect(texts.length).toBeGreaterThan(0);
  });

  it("has the page of errors that the catalogue makes", async () => {
    const script = path.join(REPOSITORY, "framework/scripts/errors-page.js");
    await expect(run(process.execPath, [script, "--check"])).resolves.toMatchObject({ stderr: "" });
  });

  it("has each message of the catalogue thrown somewhere, and below its code each message that is written elsewhere", () => {
    const isCatalogue = (file: string) => /\/error-codes\/|\/cli\/src\/messages\.ts$|\/src\/errors\.ts$/.test(file);
    const keys = sources.filter(isCatalogue).flatMap((file) => keysOf(read(file)));
    const others = sources.filter((file) => !isCatalogue(file));
    // The catalogue of a package throws some itself.
    const texts = sources.map((file) => read(file).replaceAll(/"TSGI_[\w.]+":/g, "")).join("\n");
    expect(keys.filter((key) => !isThrown(key, texts))).toEqual([]);
    expect(keys.length).toBeGreaterThan(120);
    const described = describedMistakes(read(ERRORS));
    const written = others.flatMap((file) => mistakesOf(path.join(REPOSITORY, file)));
    const unknown = written.filter(
      (mistake) => /\w/.test(mistake.message) && !described.some((one) => isDeepStrictEqual(one, mistake)),
    );
    expect(unknown).toEqual([]);
  });

  it(
    "has wrong examples that throw the code of their section, and right ones that do not throw",
    async () => {
      const thrown = await runExamples(examples.map(({ block }) => project.compiled(block)));
      const unlike = examples.flatMap(({ code: key, isRight, block }, index) => {
        const expected = isRight ? null : key;
        return thrown[index] === expected ? [] : [{ title: title(block), expected, thrown: thrown[index] }];
      });
      expect(unlike).toEqual([]);
      expect(examples.length).toBeGreaterThan(150);
    },
    LONG_MS,
  );

  const ifInstalled = HAS_NGINX ? it : it.skip;
  ifInstalled("has configurations that nginx takes (it is to be installed)", () => {
    const sites = blocks.filter(({ language }) => language === "nginx");
    expect(sites.map(findNginxFault)).toEqual(sites.map(() => ""));
    expect(findNginxFault({ ...(sites[0] as Block), code: "server { lissen 80; }" })).toContain("lissen");
  });

  it("has links that lead to pages and headings that are there", () => {
    expect(findBrokenLinks(pages)).toEqual([]);
  });
});

describe("the checks of the documentation", () => {
  it(
    "names page and line of what does not compile, in pages and in doc comments",
    async () => {
      const page =
        'Text\n\n<!--\n```ts before\nconst name = "ada";\n```\n-->\n\n```ts\nname.length;\nname.missing();\n```\n';
      const comment = "/**\n * @example\n * ```ts\n * const n: number = 'text';\n * ```\n */\n";
      await using broken = await DocsProject.create([...blocksOf("docs/a.md", page), ...blocksOf("src/b.ts", comment)]);
      expect(await broken.compile()).toMatchObject([{ place: "docs/a.md:11" }, { place: "src/b.ts:4" }]);
    },
    LONG_MS,
  );

  it("read the output of a program, and the steps of a terminal", () => {
    const [program, terminal] = blocksOf(
      "a.md",
      "```ts [app.ts]\nconsole.log(1); // 1\nlog(2); // 2\n```\n\n```console\n$ a \\\n  b\none\ntwo\n$ c\n```\n",
    ) as [Block, Block];
    expect([fileOf(program), printsOf(program)]).toEqual(["app.ts", ["1"]]);
    expect(stepsOf(terminal)).toEqual([
      { command: "a \\\n  b", output: "one\ntwo\n" },
      { command: "c", output: "" },
    ]);
  });

  it.each([
    ["a.b", "a.b", true],
    ["axb", "a.b", false],
    ["a\nmore\nb", "a\n…\nb", true],
    ["a\nb", "a\n…\nb", true],
    ["a\nb", "a", false],
  ])("takes %j for %j: %s", (answer, shown, expected) => {
    expect(isAsShown(answer, shown)).toBe(expected);
  });
});
