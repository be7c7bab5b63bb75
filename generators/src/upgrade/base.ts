import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { CommandError, messageOf } from "../errors.js";
import { environmentForNpm } from "../npm-flags.js";
import { runNpm } from "../npm.js";
import { folderOf } from "../project-name.js";
import { readFiles } from "../read-files.js";
import type { Answers } from "../answers.js";
import type { Files } from "./merge-project.js";

/** The recorded options of a project. */
export type KeptAnswers = Pick<Answers, "name" | "template"> & Partial<Answers>;

/**
 * Creates a project again with an earlier version of this package: installs that version into a temporary folder and
 * runs it with the recorded options. So neither the project nor this package needs a copy of the old template.
 *
 * @param specifier the package to install: `create-tsgi@0.1.0`, or the path of a tarball
 * @throws CommandError when that version cannot be installed, or fails
 */
export async function renderBase(specifier: string, answers: KeptAnswers): Promise<Files> {
  const folder = mkdtempSync(join(tmpdir(), "create-tsgi-"));
  try {
    writeFileSync(join(folder, "package.json"), "{}\n");
    await runNpm(
      ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--loglevel=error", specifier],
      {
        cwd: folder,
        output: "on failure",
      },
    ).catch((error: unknown) => {
      throw new CommandError(`${specifier}, which created this project, cannot be installed: ${messageOf(error)}`);
    });
    const program = join(folder, "node_modules/create-tsgi/bin/create-tsgi.js");
    const flags = [
      answers.name,
      "--into",
      join(folder, "base"),
      "--yes",
      "--no-install",
      "--no-git",
      ...flagsOf(answers),
    ];
    const child = spawnSync(process.execPath, [program, ...flags], {
      cwd: folder,
      env: environmentForNpm({ ...process.env, npm_command: undefined }),
      encoding: "utf8",
    });
    if (child.status !== 0) {
      throw new CommandError(`${specifier} cannot create the project again: ${child.stderr.trim()}`);
    }
    const files = readFiles(join(folder, "base", folderOf(answers.name)));
    return new Map([...files].map(([path, { contents }]) => [path, contents]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The flags for the recorded options. */
function flagsOf({
  template,
  database,
  runtime,
  deploy,
  extras,
  items,
  docker,
  loadTests,
  ci,
  packageManager,
}: KeptAnswers): string[] {
  const switches = { items, docker, "load-tests": loadTests, ci };
  return [
    `--template=${template}`,
    ...(database === undefined ? [] : [`--database=${database}`]),
    ...(runtime === undefined ? [] : [`--runtime=${runtime}`]),
    ...(deploy === undefined ? [] : [`--deploy=${deploy}`]),
    ...(extras === undefined ? [] : [`--with=${extras.join()}`]),
    ...Object.entries(switches).flatMap(([name, isWanted]) =>
      isWanted === undefined ? [] : [isWanted ? `--${name}` : `--no-${name}`],
    ),
    ...(packageManager === undefined ? [] : [`--package-manager=${packageManager}`]),
  ];
}
