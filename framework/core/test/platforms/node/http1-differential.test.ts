import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "@jest/globals";
import { IS_SLOW } from "../../../../test/support/on-demand.js";
import { Differential } from "./_http1-differential.js";
import { type Rule, rules } from "./_http1-differences.js";
import { textsOf, tryAll } from "./_http1-trial.js";

const COUNT = IS_SLOW ? 100_000 : 1000;
const BATCH = 1000;
/** The parsers of later versions differ in less. */
const NEEDS_ALL_RULES = IS_SLOW && process.version.startsWith("v20.");

describe("serve, compared with the parser of node:http", () => {
  it(`differs on ${COUNT} generated and mutated requests only by a rule of the list (100,000 with TSGI_SLOW=1)`, async () => {
    await using both = await Differential.start();
    const used = new Map<Rule, number>();
    for (let seed = 0; seed * BATCH < COUNT; seed++) {
      expect(await tryAll(both, textsOf(seed, BATCH), used)).toBeNull();
    }
    expect(both.logged).toEqual([]);
    const unused = rules.filter((rule) => !used.has(rule)).map(({ name }) => name);
    expect(NEEDS_ALL_RULES ? unused : []).toEqual([]);
  }, 600_000);

  it("has its rules in the documentation, one row each", () => {
    const page = readFileSync(path.resolve(import.meta.dirname, "../../../../docs/http1.md"), "utf8");
    const table = page.slice(page.indexOf("## Differences from"));
    const names = Array.from(table.matchAll(/^\| (.+?) +\|/gm), ([, name]) => name).slice(2);
    expect(names).toEqual(rules.map(({ name }) => name));
  });
});
