import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { overlapOf } from "../src/bench-overlap.js";
import { fillIn, toBlocks, toFigures } from "../src/benchmarks-page.js";
import type { Comparison } from "../src/pairs/measure.js";
import { CHARTS, PAGES } from "../src/paths.js";
import { pool, type Published, readPublished, readRun, replaceSections } from "../src/published.js";
import { comparison, sectionOf, settled } from "./_comparisons.js";

const USER = "GET /users/{id}";

const run: Published = {
  machine: { cpu: "a processor", cores: 2, node: "v20.1.0" },
  peers: { hono: "4.0.0" },
  sections: {
    direct: sectionOf(settled("Hono fetch", "GET /health", 2, "tsgi")),
    http: sectionOf(settled("Hono", USER, 0.5), settled("Express", USER, 8), settled("bare node:http", USER, 1.2)),
    bun: sectionOf(settled("Hono", "GET /health", 0.9, "tsgi app.fetch")),
  },
};

/** The run with other results over HTTP. */
function withHTTP(...comparisons: readonly Comparison[]): Published {
  return { ...run, sections: { ...run.sections, http: sectionOf(...comparisons) } };
}

const linesOf = (block = ""): string[] => block.split("\n").map((line) => line.replaceAll(/ +/g, " "));

describe("the figures of the documentation", () => {
  it.each(PAGES.map((page) => ({ page, name: path.basename(page.pathname) })))(
    "match results.json on $name",
    async ({ page }) => {
      const text = await readFile(page, "utf8");
      expect(text).toContain("<!-- figures: ");
      expect(text).toBe(fillIn(text, toBlocks(await readPublished())));
    },
  );

  it("match results.json in the charts", async () => {
    const figures = toFigures(await readPublished());
    for (const [name, figure] of Object.entries(figures)) {
      expect(await readFile(new URL(name, CHARTS), "utf8")).toBe(figure);
    }
    const drawn = (await readdir(CHARTS)).filter((name) => name.startsWith("benchmark-"));
    expect(drawn.toSorted()).toEqual(Object.keys(figures).toSorted());
  });

  it("are all on a page", async () => {
    const texts = (await Promise.all(PAGES.map((page) => readFile(page, "utf8")))).join("");
    for (const name of Object.keys(toBlocks(await readPublished()))) {
      expect(texts).toContain(`<!-- figures: ${name} -->`);
    }
  });

  it("begin with one table of tsgi and well-known frameworks, and state if it is the fastest", () => {
    const lines = linesOf(toBlocks(run)["overview"]);
    expect(lines[0]).toBe("| tsgi on Node.js 20 is faster by | Hono | Express |");
    expect(lines[2]).toBe("| `GET /users/{id}` | 0.50× (0.50–0.50) | 8.00× (8.00–8.00) |");
    expect(lines[4]).toMatch(/^tsgi is faster in 1 of 2 comparisons, and slower in 1\./);
    expect(lines.at(-1)).toBe("On Bun, `app.fetch` has 0.90× the speed of Hono and Elysia.");
    expect(toBlocks(withHTTP(settled("Hono", USER, 2)))["overview"]).toContain("tsgi is the fastest in each row.");
  });

  it("leave a ratio that is not settled out of the overview, and show it in the table", () => {
    const wide = comparison("Express", USER, [4, 9, 5, 8]);
    const blocks = toBlocks(withHTTP(settled("Hono", USER, 2), wide));
    expect(linesOf(blocks["overview"])[0]).toBe("| tsgi on Node.js 20 is faster by | Hono |");
    expect(blocks["http"]).toMatch(/^\| Express +\| +6\.\d\d× \(.*\)\? \|$/m);
    expect(toBlocks(withHTTP(wide))["overview"]).toContain("wider than ±5 %: measure again.");
  });

  it("list the cases in which tsgi is slower, if the whole interval shows it", () => {
    const open = comparison("h3", USER, [0.8, 1.1, 0.9, 1]);
    const blocks = toBlocks(withHTTP(settled("Hono", USER, 0.5), open, settled("uWebSockets.js", USER, 0.8)));
    expect(blocks["slower"]?.split("\n")).toEqual([
      "- **Over HTTP**: Hono in 1 of 1 rows (0.50×), uWebSockets.js (no framework) in 1 of 1 rows (0.80×)",
      "- **Bun**: Hono in 1 of 1 rows (0.90×)",
    ]);
    const faster = { ...run, sections: { http: sectionOf(settled("Hono", USER, 2)) } };
    expect(toBlocks(faster)["slower"]).toBe("The runs show no case in which tsgi is slower.");
  });

  it("include the lowest and the highest settled ratio, and the share of settled ones", () => {
    const { extremes = "", "measured on": measured } = toBlocks(run);
    expect(linesOf(extremes)[2]).toBe(
      "| Over HTTP | 0.50× Hono, `GET /users/{id}` | 8.00× Express, `GET /users/{id}` | 1 of 3 | 3 |",
    );
    expect(measured).toContain("The interval of 5 of 5 ratios is within ±5 %.");
  });

  it("state what else used the processors", () => {
    const http = sectionOf(settled("Hono", USER, 2));
    const runs = http.runs.map((one) => ({ ...one, disturbance: { ...one.disturbance, others: 0.4 } }));
    const busy = toBlocks({ ...run, sections: { http: { ...http, runs } } });
    expect(busy["measured on"]).toContain("During the runs, other processes used 40.0 % of the processors' time.");
  });

  it("replace earlier results, and no other text", () => {
    const page = "before\n<!-- figures: a -->\n\nold\n\n<!-- end of figures -->\nafter\n";
    expect(fillIn(page, { a: "new" })).toBe(page.replace("old", "new"));
    expect(() => fillIn(page, { b: "new" })).toThrow('Unknown figures "a": write one of b.');
  });
});

describe("a chart of the documentation", () => {
  it("is self-contained, with a background and both color schemes", () => {
    for (const figure of Object.values(toFigures(run))) {
      expect(figure.replace('xmlns="http://www.w3.org/2000/svg"', "")).not.toMatch(/<script|https?:\/\/|url\((?!#)/);
      expect(figure).toContain("prefers-color-scheme: dark");
      expect(figure).toContain('<rect width="100%" height="100%"');
    }
  });

  it("compares bare uWebSockets.js only with tsgi on it, and draws both of ours as ours", () => {
    const uws = "tsgi on uWebSockets.js";
    const http = withHTTP(settled(uws, USER, 0.9), settled("uWebSockets.js", USER, 0.8, uws));
    const chart = toFigures(http)["benchmark-http.svg"];
    expect(chart?.match(/class="ours"/g)).toHaveLength(2);
    expect(chart).not.toContain(">uWebSockets.js<");
  });
});

describe("runs that are to be published", () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tsgi-run-"));
  });

  afterAll(() => rm(folder, { recursive: true }));

  const read = async (published: object) => {
    const file = path.join(folder, "run.json");
    await writeFile(file, JSON.stringify(published));
    return readRun(pathToFileURL(file));
  };

  it("are rejected if quick, without peers, missing, or with a wrong response", async () => {
    await expect(read({ ...run, quick: true })).rejects.toThrow("Expected a whole run with the peers");
    await expect(read({ ...run, quick: false, peers: {} })).rejects.toThrow("Expected a whole run with the peers");
    await expect(readRun(pathToFileURL(path.join(folder, "missing.json")))).rejects.toThrow("Measure first");
    const http = { ...sectionOf(), faults: ["Hono: GET /health: expected 200, got 500"] };
    await expect(read({ ...run, quick: false, sections: { http } })).rejects.toThrow(
      "Results with wrong responses are not published: Hono: GET /health: expected 200, got 500",
    );
  });

  it("can be pooled: the launches of a row count together", () => {
    const other = { ...run, sections: { http: sectionOf(settled("Hono", USER, 2), settled("h3", USER, 1)) } };
    const { sections } = pool([run, other]);
    expect(sections.http?.runs).toHaveLength(2);
    expect(sections.http?.comparisons.map(({ theirs, ratios }) => [theirs, ratios])).toEqual([
      ["Hono", [0.5, 0.5, 0.5, 0.5, 2, 2, 2, 2]],
      ["Express", [8, 8, 8, 8]],
      ["bare node:http", [1.2, 1.2, 1.2, 1.2]],
      ["h3", [1, 1, 1, 1]],
    ]);
    expect(sections.direct).toEqual(run.sections.direct);
  });

  it("replace the sections that they have, if the machine is the same", () => {
    const bun = sectionOf(settled("Hono", "GET /health", 1.1, "tsgi app.fetch"));
    const { sections } = replaceSections(run, { ...run, sections: { bun } });
    expect(sections).toEqual({ ...run.sections, bun });
    const elsewhere = { ...run, machine: { ...run.machine, cores: 8 }, sections: { bun } };
    expect(() => replaceSections(run, elsewhere)).toThrow("The results are of different machines: 2 × a processor");
  });

  it("are compared row by row: their intervals overlap, or they are listed", () => {
    const again = { ...run, sections: { http: sectionOf(settled("Hono", USER, 0.5), settled("Express", USER, 9)) } };
    const { share, text } = overlapOf(run, again);
    expect(share).toBe(0.5);
    expect(text).toContain("The intervals of 1 of 2 rows overlap (50.0 %). In 2, both are within ±5 %.");
    expect(linesOf(text).at(-1)).toBe(
      "| http / tsgi serve : Express / GET /users/{id} | 8.00× (8.00–8.00) | 9.00× (9.00–9.00) |",
    );
    expect(overlapOf(run, run).text).toContain("5 of 5 rows overlap (100.0 %)");
  });
});
