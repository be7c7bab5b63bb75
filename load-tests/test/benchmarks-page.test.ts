import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { fillIn, toBlocks, toFigures } from "../src/benchmarks-page.js";
import { CHARTS, PAGES } from "../src/paths.js";
import { type Published, readPublished, readRun } from "../src/published.js";
import { readSettings } from "../src/settings.js";
import { summarize } from "../src/statistics.js";

/** Makes the results of contenders in one row. */
const rowOf = (row: string, figure: "perSecond" | "perCPUSecond") => {
  return (contender: string, ...runs: number[]) => ({
    contender,
    rows: { [row]: { [figure]: summarize(runs) } },
    faults: [],
  });
};

const result = rowOf("GET /health", "perSecond");
const onBun = rowOf("GET /health, Bun", "perCPUSecond");

const run: Published = {
  started: "2026-01-02T03:04:05.000Z",
  machine: { cpu: "a processor", cores: 2, node: "v20.1.0", load: 0.1 },
  settings: readSettings({ PEERS: "1" }),
  peers: { hono: "4.0.0" },
  disturbances: {},
  sections: {
    direct: [result("tsgi", 123_456), result("Hono", 61_728)],
    routing: [],
    database: [],
    http: [result("tsgi serve", 50), result("Hono", 100), result("Express", 25)],
    footprint: [],
    runtimes: [onBun("tsgi serve", 2000), onBun("Hono", 1000)],
  },
};

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

  it("include the worst ratio and the best one, and the number of cases in which tsgi is slower", () => {
    const { extremes } = toBlocks(run);
    expect(extremes).toContain(
      "| 0.50× Hono, `GET /health` | 2.00× Express, `GET /health` |    1 of 2 |            – |",
    );
  });

  it("begin with one table of tsgi and three frameworks, and state if it is the fastest", () => {
    const user = rowOf("GET /users/{id}", "perCPUSecond");
    const rates = (contender: string, rate: number) => user(contender, rate, rate * 1.01);
    const blockOf = (...http: Published["sections"]["http"] & object) => {
      const { overview = "" } = toBlocks({ ...run, sections: { ...run.sections, http } });
      return overview.split("\n").map((line) => line.replaceAll(/ +/g, " "));
    };
    const lines = blockOf(rates("tsgi serve", 300), rates("Fastify", 200), rates("Elysia", 250));
    expect(lines[0]).toBe("| Requests per second of CPU time, Node.js 20 | tsgi | Fastify |");
    expect(lines[2]).toBe("| `GET /users/{id}` | 302 | 201 |");
    expect(lines.at(-1)).toMatch(
      /^tsgi is the fastest in both rows\. A ratio of two numbers in a row is accurate to ±\d %\.$/,
    );
    const slower = blockOf(rates("tsgi serve", 100), rates("Hono", 200));
    expect(slower.at(-1)).toMatch(/^tsgi is slower in 1 of 1 comparisons, and 0 are undecided\./);
  });

  it("list the cases in which tsgi is slower, if the runs can decide that", () => {
    expect(toBlocks(run)["slower"]).toBe("- **Over HTTP**: Hono in 1 of 1 rows (0.50×)");
    const http = [result("tsgi serve", 50, 60, 100), result("Hono", 70, 70, 70)];
    const blocks = toBlocks({ ...run, sections: { ...run.sections, http } });
    expect(blocks["slower"]).toBe("The runs show no case in which tsgi is slower.");
    expect(blocks["http"]).toMatch(/^\| Hono +\| +70 ±0 % · undecided \|$/m);
    expect(blocks["http"]).toContain("_undecided_: the runs cannot show which is faster");
  });

  it("state by which factor a ratio is uncertain, and count a spread once", () => {
    const http = [result("tsgi serve", 50, 50, 100), result("Hono", 50, 50, 50), result("Express", 1, 1, 1)];
    const blocks = toBlocks({ ...run, sections: { ...run.sections, http } });
    expect(blocks["extremes"]).toMatch(/^\| Over HTTP +\| 1\.00× .*\| +0 of 2 \| +1\.72 \|$/m);
    expect(blocks["measured on"]).toContain("1 of all 3 results varied by more than ±10 % between the runs");
  });

  it("compare bare uWebSockets.js with tsgi on it, and draw both of ours as ours", () => {
    const http = [result("tsgi serve", 50), result("tsgi on uWebSockets.js", 90), result("uWebSockets.js", 100)];
    const other = { ...run, sections: { ...run.sections, http } };
    const { http: table } = toBlocks(other);
    expect(table).toMatch(/^\| tsgi on uWebSockets\.js \| +90 \|$/m);
    expect(table).toMatch(/^\| uWebSockets\.js +\| +100 · 0\.90× \|$/m);
    expect(toFigures(other)["benchmark-http.svg"]?.match(/class="ours"/g)).toHaveLength(2);
  });

  it("separate pipelined measurements from the rest, with the names of their routes", () => {
    const row = { perSecond: summarize([100, 120]) };
    const pipelined = {
      contender: "tsgi serve",
      rows: { "GET /health": row, "GET /health, 10 pipelined": row },
      faults: [],
    };
    const blocks = toBlocks({ ...run, sections: { ...run.sections, http: [pipelined] } });
    for (const name of ["http", "http, pipelined"]) {
      expect(blocks[name]?.split("\n")).toEqual([
        "|            | `GET /health` |",
        "| ---------- | ------------: |",
        "| tsgi serve |      110 ±9 % |",
      ]);
    }
  });

  it("have a table for each runtime, with the servers that were measured there", () => {
    const blocks = toBlocks(run);
    expect(blocks["runtimes, Bun"]?.split("\n").map((line) => line.replaceAll(/ +/g, " "))).toEqual([
      "| | `GET /health` |",
      expect.stringMatching(/^\|[-| :]+\|$/),
      "| tsgi serve | 2,000 |",
      "| Hono | 1,000 · 2.00× |",
    ]);
    expect(blocks["runtimes, Deno"]).toBe("Not measured in this run.");
  });

  it("keep the rows on pg and those on Prisma apart", () => {
    const row = { perCPUSecond: summarize([100]) };
    const database = [{ contender: "tsgi serve", rows: { "GET /db": row, "GET /db, Prisma": row }, faults: [] }];
    const blocks = toBlocks({ ...run, sections: { ...run.sections, database } });
    const headOf = (name: string) => blocks[name]?.split("\n")[0]?.replaceAll(/ +/g, " ");
    expect(headOf("database")).toBe("| | `GET /db` |");
    expect(headOf("database, Prisma")).toBe("| | `GET /db`, Prisma |");
  });

  it("state that they are provisional if the run was a quick one, or the machine noisy", () => {
    const quick = { ...run, settings: readSettings({ PEERS: "1", QUICK: "1" }) };
    const busy = { ...run, machine: { ...run.machine, load: 1.5 } };
    expect(toBlocks(run)["measured on"]).not.toContain("provisional");
    const disturbed = { ...run, disturbances: { http: { stolen: 0.02, others: 0, frequency: 0 } } };
    const said: [Published, string][] = [
      [quick, "the run was a quick one."],
      [busy, "the load was 1.5 at the start."],
      [disturbed, "the host took 2.0 % of the processors' time (steal)."],
    ];
    for (const [one, reason] of said) {
      expect(toBlocks(one)["measured on"]).toContain(`**These results are provisional**: ${reason}`);
      expect(toBlocks(one)["overview"]).toContain(`**These results are provisional**: ${reason}`);
    }
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
});

describe("a run that is to be published", () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tsgi-run-"));
  });

  afterAll(() => rm(folder, { recursive: true }));

  const read = async (published: unknown) => {
    const file = path.join(folder, "run.json");
    await writeFile(file, JSON.stringify(published));
    return readRun(pathToFileURL(file));
  };

  it("has four significant digits of each number, without the path of its file", async () => {
    const { sections, settings } = await read({ ...run, settings: { ...run.settings, output: "/home/me/run.json" } });
    expect(settings.output).toBeNull();
    expect(sections.direct?.[0]?.rows["GET /health"]).toEqual({
      perSecond: { median: 123_500, min: 123_500, max: 123_500, spread: 0, runs: [123_500] },
    });
  });

  it("is rejected when something is missing", async () => {
    const { routing: _routing, ...sections } = run.sections;
    await expect(read({ ...run, sections })).rejects.toThrow("it has no routing: make bench PEERS=1");
    await expect(read({ ...run, settings: readSettings({}) })).rejects.toThrow("it has no peers");
    await expect(readRun(pathToFileURL(path.join(folder, "missing.json")))).rejects.toThrow("Measure first");
  });

  it("is rejected if a response was wrong", async () => {
    const direct = [{ contender: "Hono", rows: {}, faults: ["GET /health: expected 200, got 500"] }];
    await expect(read({ ...run, sections: { ...run.sections, direct } })).rejects.toThrow(
      "Results of a run with wrong responses are not published: Hono: GET /health: expected 200, got 500",
    );
  });
});
