import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { exampleRequest } from "../src/next-steps.js";
import { codeOf, missingPackages } from "./imports.js";
import { GROWN, writeAllProjects, type AllProjects } from "./all-projects.js";
import { serve } from "./scaffolded.js";
import { hasProgram, run } from "./support.js";

jest.setTimeout(900_000);

const slowly = process.env["TSGI_SLOW"] ? it : it.skip;

/** The tests that run: one file of each kind that sub-generators write, both files of the pages for agents, and one of each template. */
const TESTS = [
  "minimal-grown/my-app/test/app.test.ts",
  "minimal-grown/my-app/test/orders.test.ts",
  "minimal-grown/my-app/test/get-orders-order-id-lines.test.ts",
  "minimal-grown/my-app/test/put-settings-name.test.ts",
  "minimal-grown/my-app/test/patch-body-x.test.ts",
  "minimal-grown/my-app/test/tenant-dependency.test.ts",
  "minimal-grown/my-app/test/timing-middleware.test.ts",
  "minimal-grown/my-app/test/websocket-rooms-room.test.ts",
  "minimal/my-app/test/notes.test.ts",
  "minimal/my-app/test/search.test.ts",
  "api-grown/my-app/test/items.test.ts",
  "api-grown/my-app/test/health.test.ts",
  "api-grown/my-app/test/orders.test.ts",
  "api-sqlite-grown/my-app/test/items.test.ts",
  "api-sqlite-grown/my-app/test/notes.test.ts",
  "auth-sqlite-grown/my-app/test/routes/notes.test.ts",
  "auth-sqlite-bare/my-app/test/routes/auth.test.ts",
  "api-all/my-app/test/extras/mcp.test.ts",
];

/** Each template that is started, with a part of the response to the request that its README shows. */
const STARTED = [
  ["minimal-grown", "minimal", { item_id: 42, version: 3 }],
  ["api-grown", "api", { name: "Pen", price: 1.5 }],
  ["api-sqlite-grown", "api", { name: "Pen", price: 1.5 }],
] as const;

describe("the projects of every template with every database, with and without all that the sub-generators write", () => {
  let all: AllProjects;

  beforeAll(async () => {
    all = await writeAllProjects();
  });

  afterAll(async () => {
    await all[Symbol.asyncDispose]();
  });

  it("get the code of each sub-generator", () => {
    expect(all.results.filter(([, , { status, stderr }]) => status !== 0 || stderr !== "")).toEqual([]);
    expect(all.results).toHaveLength(GROWN.reduce((sum, { calls }) => sum + calls.length, 0));
  });

  describe.each(GROWN)("$name", ({ name, calls }) => {
    const check = name === "minimal-grown" || name === "api-sqlite-grown" ? it : slowly;

    check("stays as it is after the same calls", async () => {
      const project = all.projects.get(name);
      const before = await project?.files();
      await project?.createInOrder(calls);
      expect(await project?.files()).toEqual(before);
    });
  });

  it("import only packages of their package.json", async () => {
    for (const [name, project] of all.projects) {
      expect([name, await missingPackages(project)]).toEqual([name, []]);
    }
  });

  it("have no mark of a part, and at most 60 files of 200 lines, and 3,500 lines together, if the template is auth", async () => {
    for (const name of ["auth-sqlite", "auth-postgresql", "auth-sqlite-bare", "auth-postgresql-all"]) {
      const code = await codeOf(all.projects.get(name));
      expect([
        name,
        code
          .filter(([, text]) => /\/\/ with [\w -]+:?$|^\s*\/\/ (?:without \w+: |end \w+$)/m.test(text))
          .map(([path]) => path),
      ]).toEqual([name, []]);
    }
    for (const name of ["auth-sqlite", "auth-postgresql"]) {
      const files = [...((await all.projects.get(name)?.files()) ?? [])].map(
        ([path, text]) => [path, text.split("\n").length - 1] as const,
      );
      expect(files.length).toBeLessThanOrEqual(60);
      expect(files.filter(([, lines]) => lines > 200)).toEqual([]);
      expect(files.reduce((sum, [, lines]) => sum + lines, 0)).toBeLessThanOrEqual(3_500);
    }
  });

  it("have the same settings of the tools", () => {
    expect(all.settings.filter(([, texts]) => texts.size !== 1)).toEqual([]);
  });

  it("are formatted", async () => {
    const { status, stdout } = await all.tool("oxfmt", "--check", ...all.projects.keys());
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining("use the correct format") });
  });

  it("pass the linter", async () => {
    const { status, stdout } = await all.tool("oxlint", ...all.projects.keys());
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining("0 warnings and 0 errors") });
  });

  describe("with tests that run", () => {
    let results: ReadonlyMap<string, string>;

    beforeAll(async () => {
      results = await all.test(TESTS);
    });

    it.each(TESTS)("pass %s", (file) => {
      expect(results.get(file)).toBe("passed");
    });
  });

  describe("compiled", () => {
    let compiled: Awaited<ReturnType<AllProjects["tool"]>>;

    beforeAll(async () => {
      compiled = await all.tool("tsc", "--project", ".", "--singleThreaded");
    });

    it("have no errors of types", () => {
      expect(compiled).toEqual({ status: 0, stdout: "", stderr: "" });
    });

    // Skipped where curl is missing.
    const ifInstalled = hasProgram("curl") ? it : it.skip;

    describe.each(STARTED)("%s", (name, template, expected) => {
      ifInstalled("starts, responds to the request of its README, and passes its load test", async () => {
        const project = all.build(name);
        const example = exampleRequest(template);
        expect(await readFile(join(project.path, "README.md"), "utf8")).toContain(example);
        const env = { ...project.env, NODE_ENV: "production" };
        await using server = await serve(["sh", "-c", project.scriptOf("start")], project.path, env);
        const request = example.replace("http://127.0.0.1:8000", server.url).replace("curl", "curl --fail --silent");
        const { status, stdout } = await run("sh", ["-c", request], { cwd: project.path });
        expect([status, JSON.parse(stdout)]).toEqual([0, expect.objectContaining(expected)]);
        const load = await project.tool("node", "load-tests/run.js", "--seconds", "0.02", "--connections", "2");
        expect(load).toMatchObject({ status: 0, stdout: expect.stringMatching(/^GET \S+ +\d+ requests\/s/m) });
      });
    });
  });
});
