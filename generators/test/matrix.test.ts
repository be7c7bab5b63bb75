/** All templates with all databases and each optional part, and with all parts at once: their checks, and all of their tests. */
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { MATRIX, writeAllProjects, type AllProjects } from "./all-projects.js";
import { emptyDatabase } from "./empty-database.js";
import { missingPackages } from "./imports.js";

jest.setTimeout(1_200_000);

// `projects.test.ts` checks a part of them, in which each template, database and part is once, in each run of the tests.
const describeSlowly = process.env["TSGI_SLOW"] ? describe : describe.skip;

describeSlowly("each template with each database and each part", () => {
  let all: AllProjects;

  beforeAll(async () => {
    all = await writeAllProjects(MATRIX);
  });

  afterAll(async () => {
    await all[Symbol.asyncDispose]();
  });

  it("is formatted", async () => {
    expect(await all.tool("oxfmt", "--check", ...all.projects.keys())).toMatchObject({ status: 0 });
  });

  it("passes the linter", async () => {
    const { status, stdout } = await all.tool("oxlint", ...all.projects.keys());
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining("0 warnings and 0 errors") });
  });

  it("has no errors of types", async () => {
    expect(await all.tool("tsc", "--project", ".", "--singleThreaded")).toEqual({ status: 0, stdout: "", stderr: "" });
  });

  it.each(MATRIX)("imports only packages of its package.json: $name", async ({ name }) => {
    const project = all.projects.get(name);
    expect(project && (await missingPackages(project))).toEqual([]);
  });

  it.each(MATRIX)("passes its tests: $name", async ({ name }) => {
    await using server = /postgresql/.test(name) ? await emptyDatabase() : null;
    if (server?.url === null) {
      console.warn("Skipped: there is no PostgreSQL at 127.0.0.1:5432.");
      return;
    }
    const env: Record<string, string> = server === null ? {} : { DATABASE_URL: server.url };
    const { status, stderr } = await all.testAll(name, env);
    expect({ status, failed: /^ +● [^]{0,2000}/m.exec(stderr)?.[0] }).toEqual({ status: 0, failed: undefined });
  });
});
