/** Projects as `npm create tsgi` writes them, with the packages of this repository in the place of an installation. */
import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

import { MODULES } from "../support/packages.js";

const REPOSITORY = path.resolve(import.meta.dirname, "../../..");

/** The command of `npm create tsgi`. */
export const CREATE = path.join(REPOSITORY, "generators/bin/create-tsgi.js");

/** The flags that leave out the steps which the tests do themselves. */
const OFFLINE = ["--yes", "--no-install", "--no-git"];

/** Runs the command with each list of arguments in one process: a start takes half a second of processor time. */
const CREATE_ALL = `
  const { main } = await import(process.argv[1]);
  for (const argv of JSON.parse(process.argv[2])) {
    const status = await main(argv, process.argv[3]);
    if (status !== 0) process.exit(status);
  }`;

const run = promisify(execFile);

/** Writes projects into folders, each by the flags for its folder. */
export async function createProjects(flags: Readonly<Record<string, readonly string[]>>): Promise<void> {
  const calls = Object.entries(flags).map(([folder, more]) => ["my-app", ...more, ...OFFLINE, "--into", folder]);
  const [cli, root] = [path.join(REPOSITORY, "generators/dist/bundle/cli.js"), path.join(REPOSITORY, "generators")];
  await run(process.execPath, [CREATE, "--version"]); // it bundles changed sources
  await run(process.execPath, ["--input-type=module", "-e", CREATE_ALL, "--", cli, JSON.stringify(calls), root]);
}

/** Writes the project `my-app` into a folder, and returns its path. */
export async function createProject(folder: string, flags: readonly string[]): Promise<string> {
  await run(process.execPath, [CREATE, "my-app", ...flags, ...OFFLINE], { cwd: folder });
  return path.join(folder, "my-app");
}

/** The paths of the files of a project, without its packages. */
export function filesOf(project: string): string[] {
  return readdirSync(project).flatMap((top) => {
    if (top === "vendor" || top === "node_modules") return [];
    if (statSync(path.join(project, top)).isFile()) return [top];
    return readdirSync(path.join(project, top), { recursive: true, encoding: "utf8" })
      .map((name) => path.join(top, name))
      .filter((name) => statSync(path.join(project, name)).isFile());
  });
}

/** Links the packages of this repository into a project without packages. Deno, which writes into the folder, gets them itself. */
export function linkPackages(project: string): void {
  const target = path.join(project, "node_modules");
  if (existsSync(path.join(project, "package.json")) && !existsSync(target)) symlinkSync(MODULES, target);
}

/**
 * Writes a folder of commands, to be the first one in `PATH`.
 *
 * @param folder - The folder, which is created.
 * @param commands - The arguments that run each command.
 */
export function writeCommands(folder: string, commands: Readonly<Record<string, readonly string[]>>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, command] of Object.entries(commands)) {
    const file = path.join(folder, name);
    writeFileSync(file, `#!/bin/sh\nexec ${command.map((word) => `'${word}'`).join(" ")} "$@"\n`);
    chmodSync(file, 0o755);
  }
}
