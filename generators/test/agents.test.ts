import { mkdir, readFile, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "@jest/globals";
import type { TemplateName } from "../src/options.js";
import { scaffold } from "./scaffolded.js";
import { createTsgi, packageRoot, run } from "./support.js";

// The first call in a repository may have to bundle the command, and to build and pack the framework.
beforeAll(() => createTsgi(["--dry-run", "--yes"], { cwd: packageRoot }));

const PAGES = ["AGENTS.md", ".agents/skills/tsgi/SKILL.md"] as const;

/** Its whole suite of tests takes a minute. */
const slowly = process.env["TSGI_SLOW"] ? it : it.skip;

interface Block {
  readonly language: string;
  /** The file that the block stands for; empty for commands. */
  readonly file: string;
  readonly code: string;
}

function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^```(\w+)(?: \[([^\]\n]+)\])?\n(.*?)^```$/gms)].map(
    ([, language = "", file = "", code = ""]) => ({
      language,
      file,
      code,
    }),
  );
}

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

async function followAll(template: TemplateName): Promise<void> {
  await using project = await scaffold(template);
  for (const name of PAGES) {
    const page = await readFile(join(project.path, name), "utf8");
    expect(await follow(page, project.path)).toEqual([]);
    expect(pathsIn(page).filter((path) => !existsSync(join(project.path, path)))).toEqual([]);
    expect(blocksOf(page).length).toBeGreaterThan(3);
  }
  expect(await project.check()).toMatchObject({ status: 0, stderr: "" });
}

describe("the pages for agents, in a project of the template", () => {
  it.each(["minimal", "api"] as const)("%s hold code and commands that run, and name files that exist", followAll);

  slowly("auth hold the same (only with TSGI_SLOW=1)", () => followAll("auth"), 600_000);

  it("auth name files that exist", async () => {
    await using project = await scaffold("auth");
    const pages = await Promise.all(PAGES.map((name) => readFile(join(project.path, name), "utf8")));
    const written = pages.flatMap(blocksOf).map(({ file }) => file);
    const missing = pages.flatMap(pathsIn).filter((path) => !existsSync(join(project.path, path)));
    expect(missing.filter((path) => !written.includes(path))).toEqual([]);
  });

  it("have a skill with the name of its folder and a short enough description", async () => {
    await using project = await scaffold("minimal");
    const skill = await readFile(join(project.path, PAGES[1]), "utf8");
    const [, name, description = ""] = /^---\nname: (.+)\ndescription: (.+)\n---\n/.exec(skill) ?? [];
    expect(name).toBe("tsgi");
    expect(description.length).toBeLessThanOrEqual(1_024);
  });
});
