import { mkdir, readFile, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, jest } from "@jest/globals";
import { blocksOf, PAGES } from "./agent-pages.js";
import { scaffold, scaffoldWithPackages, type Scaffolded } from "./scaffolded.js";
import { run } from "./support.js";

jest.setTimeout(600_000);

/** All three templates have the same pages, and `auth` has a suite of tests that takes a minute. */
const slowly = process.env["TSGI_SLOW"] ? it : it.skip;

/** The paths that a page names in its prose. */
function pathsIn(page: string): string[] {
  const prose = page.replaceAll(/^```.*?^```$/gms, "");
  return [...prose.matchAll(/`([\w./-]+\/|[\w./-]+\.(?:ts|md))`/g)].flatMap(([, path]) => path ?? []);
}

/** Writes the files of a page and runs its commands, in their order. Returns the failed ones, with their output. */
async function follow(page: string, folder: string): Promise<string[]> {
  const env = { PATH: `${join(folder, "node_modules/.bin")}:${process.env["PATH"]}`, NODE_OPTIONS: undefined };
  const failed: string[] = [];
  for (const { language, file, code } of blocksOf(page)) {
    if (language !== "sh") {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), code);
      continue;
    }
    for (const command of code.trim().split("\n")) {
      const { status, stdout, stderr } = await run("sh", ["-c", command], { cwd: folder, env });
      if (status !== 0) failed.push(`${command}\n${stdout}${stderr}`);
    }
  }
  return failed;
}

/** Follows all pages. Returns the failed commands, and the files that are named and do not exist. */
async function followAll({ path: folder }: Scaffolded): Promise<string[]> {
  const faults: string[] = [];
  for (const name of PAGES) {
    const page = await readFile(join(folder, name), "utf8");
    if (blocksOf(page).length <= 3) faults.push(`${name} has lost its blocks`);
    faults.push(...(await follow(page, folder)));
    faults.push(...pathsIn(page).filter((path) => !existsSync(join(folder, path))));
  }
  return faults;
}

// `projects.test.ts` compiles, formats and lints their code in all templates.
describe.each(["minimal", "api", "auth"] as const)(
  "the pages for agents, in a project of the template %s",
  (template) => {
    slowly(
      "hold code and commands that run, and its checks pass after all of them (only with TSGI_SLOW=1)",
      async () => {
        await using project = await scaffoldWithPackages(template);
        expect(await followAll(project)).toEqual([]);
        expect(await project.check()).toMatchObject({ status: 0, stderr: "" });
      },
    );

    it("name files that exist", async () => {
      await using project = await scaffold(template);
      const pages = await Promise.all(PAGES.map((name) => readFile(join(project.path, name), "utf8")));
      const written = pages.flatMap(blocksOf).map(({ file }) => file);
      const missing = pages.flatMap(pathsIn).filter((path) => !existsSync(join(project.path, path)));
      expect(missing.filter((path) => !written.includes(path))).toEqual([]);
    });
  },
);

it("the skill has the name of its folder and a short enough description", async () => {
  await using project = await scaffold("minimal");
  const skill = await readFile(join(project.path, PAGES[1]), "utf8");
  const [, name, description = ""] = /^---\nname: (.+)\ndescription: (.+)\n---\n/.exec(skill) ?? [];
  expect(name).toBe("tsgi");
  expect(description.length).toBeLessThanOrEqual(1_024);
});
