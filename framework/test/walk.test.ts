import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "@jest/globals";

const FRAMEWORK = path.join(import.meta.dirname, "..");

/** A function or file more on the way of each request costs every application: a budget only falls. */
const BUDGETS = [
  { request: "GET", files: 15, functions: 55 },
  { request: "typed GET", files: 19, functions: 65 },
  { request: "POST", files: 20, functions: 85 },
];

/** By request, and by file, the functions that are entered. */
type Walks = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** The requests that enter each file, by the list of the page on the architecture. */
function readPage(): Map<string, string[]> {
  const page = readFileSync(path.join(FRAMEWORK, "docs/architecture.md"), "utf8");
  const [, list = ""] = /<!-- walk -->([^]*)<!-- end of walk -->/.exec(page) ?? [];
  return new Map(
    [...list.matchAll(/^\d+\. `([^`]+)`(?: \(([^)]+)\))?:/gm)].map(([, file = "", requests]) => [
      file,
      requests?.split(", ") ?? BUDGETS.map(({ request }) => request),
    ]),
  );
}

describe("the walk of one warm request, from the socket to the socket", () => {
  let walks: Walks;

  beforeAll(async () => {
    const script = path.join(FRAMEWORK, "scripts/walk.js");
    const { stdout } = await promisify(execFile)(process.execPath, [script, "--json"]);
    walks = JSON.parse(stdout) as Walks;
  });

  it.each(BUDGETS)(
    "enters at most $files files and $functions functions: $request",
    ({ request, files, functions }) => {
      const walk = walks[request] ?? {};
      expect(Object.keys(walk).length).toBeGreaterThan(3);
      expect(Object.keys(walk).length).toBeLessThanOrEqual(files);
      expect(Object.values(walk).flat().length).toBeLessThanOrEqual(functions);
    },
  );

  it("is what the page on the architecture shows (npm run walk -w framework)", () => {
    const page = readPage();
    for (const { request } of BUDGETS) {
      const shown = [...page].filter(([, requests]) => requests.includes(request)).map(([file]) => file);
      expect({ request, files: shown.toSorted() }).toEqual({
        request,
        files: Object.keys(walks[request] ?? {}).toSorted(),
      });
    }
  });
});
