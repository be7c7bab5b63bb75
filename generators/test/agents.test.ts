import { readFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { blocksOf, followPages, PAGES, pathsIn } from "./agent-pages.js";
import { scaffold, scaffoldWithPackages } from "./scaffolded.js";

const slowly = process.env["TSGI_SLOW"] ? it : it.skip;

// `projects.test.ts` compiles, formats and lints their code in all templates. `install.test.ts` follows them in installed projects.
describe("the pages for agents, in a project of the template", () => {
  slowly("api hold code and commands that run, and its checks pass after all of them", async () => {
    await using project = await scaffoldWithPackages("api");
    expect(await followPages(project.path)).toEqual([]);
    expect(await project.check()).toMatchObject({ status: 0, stderr: "" });
  });

  it.each(["minimal", "api", "auth"] as const)("%s name files that exist", async (template) => {
    await using project = await scaffold(template);
    const pages = await Promise.all(PAGES.map((name) => readFile(join(project.path, name), "utf8")));
    const written = pages.flatMap(blocksOf).map(({ file }) => file);
    const missing = pages.flatMap(pathsIn).filter((path) => !existsSync(join(project.path, path)));
    expect(missing.filter((path) => !written.includes(path))).toEqual([]);
  });
});

it("the skill has the name of its folder and a short enough description", async () => {
  await using project = await scaffold("minimal");
  const skill = await readFile(join(project.path, PAGES[1]), "utf8");
  const [, name, description = ""] = /^---\nname: (.+)\ndescription: (.+)\n---\n/.exec(skill) ?? [];
  expect(name).toBe("tsgi");
  expect(description.length).toBeLessThanOrEqual(1_024);
});
