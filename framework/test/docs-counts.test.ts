/** Numbers that pages state about the code and its tests, compared with both. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "@jest/globals";

import { REQUESTS, TALKS } from "./comparison/requests.js";
import { files, table } from "./runtimes/_http-table.js";
import { attacks } from "./runtimes/_wire-table.js";

const FRAMEWORK = path.join(import.meta.dirname, "..");
const read = (file: string) => readFileSync(path.join(FRAMEWORK, file), "utf8");
const page = (name: string) => read(`docs/${name}`).replaceAll(/\s+/g, " ");

/** The numbers that a pattern's groups match in a text. */
function numbersIn(text: string, pattern: RegExp): number[] {
  const found = pattern.exec(text);
  if (found === null) throw new Error(`Nothing matches ${String(pattern)}.`);
  return found.slice(1).map(Number);
}

describe("the pages", () => {
  it("count the requests to FastAPI", () => {
    const stated = numbersIn(page("fastapi-differences.md"), /sends (\d+) requests and (\d+) WebSocket conversations/);
    expect(stated).toEqual([REQUESTS.length, TALKS.length]);
  });

  it("count the requests to each runtime", () => {
    const [stated = 0] = numbersIn(page("web.md"), /The table has over (\d+) requests/);
    const count = table.length + files.length + attacks.length;
    expect(count).toBeGreaterThan(stated);
    expect(count).toBeLessThan(stated + 100);
  });

  it("count the instantiations that the tests allow", () => {
    const pattern =
      /at most (\d+) for each route with scalars, (\d+) more for .*? and (\d+) more for .*? at most (\d+) for each route/;
    const [scalars, known, called, errors] = numbersIn(page("clients.md"), pattern);
    const tests = read("test/types/cost.test.ts");
    expect(tests).toContain(`a route with scalars and shared object schemas costs at most ${scalars} instantiations`);
    expect(tests).toContain(
      `a call by a client costs at most ${called} beyond its route, and ${known} of another route`,
    );
    expect(tests).toContain(`a route costs at most ${errors} more if its App and its dependencies declare errors`);
  });

  it("state the size that the tests allow for the web", () => {
    const allowed = numbersIn(read("test/web-bundle.test.ts"), /MAX_KIB = (\d+);/);
    expect(numbersIn(page("web.md"), /then has at most (\d+) KiB in gzip/)).toEqual(allowed);
  });

  it("follow a request through eight files", () => {
    const text = page("who-runs-what.md");
    expect(text).toContain("through eight files");
    const steps = [...text.matchAll(/ \d\. \*\*[^*]+\*\* \(\d+ minutes\)\..*?`([\w/-]+\.ts)`/g)].map(
      ([, file = ""]) => file,
    );
    expect(steps.filter((file) => existsSync(path.join(FRAMEWORK, "core/src", file)))).toHaveLength(8);
  });
});
