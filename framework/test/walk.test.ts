import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "@jest/globals";

const FRAMEWORK = path.join(import.meta.dirname, "..");

/** One more function or file in each request costs every application, so a budget only falls. Every function counts. */
const BUDGETS = [
  { request: "GET", files: 14, functions: 50 },
  { request: "typed GET", files: 18, functions: 60 },
  { request: "POST", files: 19, functions: 70 },
  { request: "POST with a middleware", files: 20, functions: 73 },
];

/** The entry of functions that are generated at registration. It is not a file. */
const GENERATED = "generated code";

/** By request, and by file, the functions that are entered. */
type Walks = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** The requests that enter each file, by the list of the page on the architecture. */
function readPage(): Map<string, string[]> {
  const page = readFileSync(path.join(FRAMEWORK, "docs/architecture.md"), "utf8");
  const [, list = ""] = /<!-- walk -->([^]*)<!-- end of walk -->/.exec(page) ?? [];
  return new Map(
    [...list.matchAll(/^\d+\. `?([^`:(]+?)`?(?: \(([^)]+)\))?:/gm)].map(([, file = "", requests]) => [
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
      const entered = Object.keys(walk).filter((file) => file !== GENERATED);
      expect(entered.length).toBeGreaterThan(3);
      expect(entered.length).toBeLessThanOrEqual(files);
      expect(Object.values(walk).flat().length).toBeLessThanOrEqual(functions);
    },
  );

  it("counts functions without a name and generated functions", () => {
    const post = walks.POST ?? {};
    expect(post[GENERATED]?.length).toBeGreaterThan(0);
    expect(Object.values(post).flat()).toContain("");
  });

  it("is shown on the page on the architecture (npm run walk --prefix framework)", () => {
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
