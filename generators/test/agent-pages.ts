import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { run } from "./support.js";

/** The pages for agents in a project. */
export const PAGES = ["AGENTS.md", ".agents/skills/tsgi/SKILL.md"] as const;

export interface Block {
  readonly language: string;
  /** The file that the block stands for; empty for commands. */
  readonly file: string;
  readonly code: string;
}

export function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^```(\w+)(?: \[([^\]\n]+)\])?\n(.*?)^```$/gms)].map(
    ([, language = "", file = "", code = ""]) => ({
      language,
      file,
      code,
    }),
  );
}

/** The paths that a page names in its prose. */
export function pathsIn(page: string): string[] {
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

/** Follows all pages in a project. Returns the failed commands, and the files that are named and do not exist. */
export async function followPages(folder: string): Promise<string[]> {
  const faults: string[] = [];
  for (const name of PAGES) {
    const page = await readFile(join(folder, name), "utf8");
    if (blocksOf(page).length <= 3) faults.push(`${name} has lost its blocks`);
    faults.push(...(await follow(page, folder)));
    faults.push(...pathsIn(page).filter((path) => !existsSync(join(folder, path))));
  }
  return faults;
}
