import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { exampleRequest } from "../src/next-steps.js";
import { scaffoldWithPackages, serve } from "./scaffolded.js";
import { hasProgram, run } from "./support.js";

const slowly = process.env["TSGI_SLOW"] ? it : it.skip;

const command = "node_modules/@tsgi/cli/bin/tsgi.js";

// `projects.test.ts` compiles, formats and lints all projects at once, and runs the tests of each template and starts it.
describe.each(["minimal", "api"] as const)("a project of the template %s (only with TSGI_SLOW=1)", (template) => {
  /** Skipped where curl is missing. */
  const ifInstalled = hasProgram("curl") ? slowly : it.skip;

  slowly("passes its own checks of format, types and lint, and its own tests", async () => {
    await using project = await scaffoldWithPackages(template);
    expect(await project.check()).toMatchObject({ status: 0, stderr: "" });
    const { status, stderr } = await project.test();
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringMatching(/^Tests: +\d+ passed, \d+ total$/m),
    });
  });

  slowly("passes its checks without what may be left out", async () => {
    await using project = await scaffoldWithPackages(
      template,
      "--no-docker",
      "--no-load-tests",
      "--no-ci",
      "--package-manager=pnpm",
    );
    expect(await project.check()).toMatchObject({ status: 0, stderr: "" });
    const { stdout } = await project.tool("oxfmt", "--list-different");
    expect(stdout).toBe("");
  });

  ifInstalled("responds to the request that the command and the README show", async () => {
    await using project = await scaffoldWithPackages(template);
    const readme = await readFile(join(project.path, "README.md"), "utf8");
    const example = exampleRequest(template);
    expect(readme).toContain(example);
    await using server = await serve([process.execPath, command, "dev", "src/app.ts"], project.path);
    const request = example.replace("http://127.0.0.1:8000", server.url).replace("curl", "curl --fail --silent");
    const { status, stdout } = await run("sh", ["-c", request], { cwd: project.path });
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject(template === "minimal" ? { item_id: 42, version: 3 } : { name: "Pen" });
  });

  slowly("serves its build, and passes its load test", async () => {
    await using project = await scaffoldWithPackages(template);
    expect(await project.tool("tsc", "-b")).toMatchObject({ status: 0 });
    await using server = await serve([process.execPath, command, "run", "dist/app.js"], project.path);
    const response = await fetch(`${server.url}/openapi.json`);
    expect(await response.json()).toMatchObject({ openapi: "3.0.3" });
    const load = await project.tool("node", "load-tests/run.js", "--seconds", "0.1", "--connections", "2");
    expect(load).toMatchObject({ status: 0, stdout: expect.stringMatching(/^GET \S+ +\d+ requests\/s/m) });
  });
});
