import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TemplateName } from "../src/options.js";
import { createTsgi, createTsgiInOrder } from "./in-process.js";
import { repositoryRoot, run, shellEnvironment, temporaryFolder, type Result } from "./support.js";

/** A project as the command writes it. */
export interface Project {
  path: string;
  /** The environment of its commands. */
  env: Readonly<Record<string, string | undefined>>;
  /** The line of one of its scripts. */
  scriptOf(name: string): string;
  /** Runs a program of its packages, such as `tsc`. */
  tool(name: string, ...parameters: string[]): Promise<Result>;
  /** Runs the command in its folder. */
  create(...parameters: string[]): Promise<Result>;
  /** Runs the command in its folder once for each list of arguments. */
  createInOrder(calls: readonly (readonly string[])[]): Promise<Result[]>;
  /** The command that runs its tests. */
  jest(): string;
  /** Runs its tests, or those that are named. */
  test(...paths: string[]): Promise<Result>;
  /** Runs one of its scripts. */
  script(name: string, env?: Record<string, string>): Promise<Result>;
  /** The output of its own script `check`, after a build. */
  check(): Promise<Result>;
  /** All files that are the project's own, with their text. */
  files(): Promise<Map<string, string>>;
}

/** A project that is removed at the end of the block. */
export type Scaffolded = Project & AsyncDisposable;

/** Creates a project of a template in a new folder. Without packages, the sub-generators do not format its code. */
export async function scaffold(template: TemplateName, ...flags: string[]): Promise<Scaffolded> {
  const folder = await temporaryFolder();
  const project = await scaffoldInto(folder.path, "my-app", "--template", template, ...flags);
  return { ...project, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

/** Creates a project with the repository's packages in the place of an installation. */
export async function scaffoldWithPackages(template: TemplateName, ...flags: string[]): Promise<Scaffolded> {
  const project = await scaffold(template, ...flags);
  await linkPackages(project.path);
  return project;
}

/** Creates a project in a folder below another one. */
export async function scaffoldInto(parent: string, name: string, ...flags: string[]): Promise<Project> {
  const made = await createTsgi([name, "--yes", "--no-install", "--no-git", ...flags], { cwd: parent });
  if (made.status !== 0) throw new Error(made.stderr);
  return projectIn(join(parent, name));
}

/** Links the repository's packages into a folder. */
export async function linkPackages(folder: string): Promise<void> {
  await symlink(join(repositoryRoot, "node_modules"), join(folder, "node_modules"));
}

function projectIn(path: string): Project {
  const packages = join(repositoryRoot, "node_modules");
  const env = { PATH: `${join(packages, ".bin")}:${process.env["PATH"]}`, NODE_OPTIONS: undefined };
  const shell = (line: string) => run("sh", ["-c", line], { cwd: path, env });
  const scriptOf = (name: string) => String(JSON.parse(readFileSync(join(path, "package.json"), "utf8")).scripts[name]);
  const jest = () => {
    const [, node = "", program = ""] = /(?:^|&& )(node .*)node_modules(\/.*jest\.js)$/.exec(scriptOf("test")) ?? [];
    return `${node}${packages}${program}`;
  };
  return {
    path,
    env,
    scriptOf,
    tool: (name, ...parameters) => run(name, parameters, { cwd: path, env }),
    create: (...parameters) => createTsgi(parameters, { cwd: path }),
    createInOrder: (calls) => createTsgiInOrder(calls, { cwd: path }),
    jest,
    test: (...paths) => shell(`${jest()} -i ${paths.join(" ")}`),
    script: (name, more) => run("npm", ["run", "--silent", name], { cwd: path, env: { ...env, ...more } }),
    check: () => shell(scriptOf("check")),
    files: () => filesOf(path),
  };
}

async function filesOf(path: string): Promise<Map<string, string>> {
  // The link to the packages is followed by a walk over everything: 0.5 s.
  const tops = readdirSync(path).filter((name) => !/^(?:node_modules|dist|\.git|vendor)$/.test(name));
  const names = tops.flatMap((top) =>
    statSync(join(path, top)).isFile()
      ? [top]
      : readdirSync(join(path, top), { recursive: true, encoding: "utf8" }).map((name) => join(top, name)),
  );
  const files = names
    .filter((name) => !/^src\/generated|tsbuildinfo$/.test(name) && statSync(join(path, name)).isFile())
    .toSorted();
  return new Map(
    await Promise.all(files.map(async (name) => [name, await readFile(join(path, name), "utf8")] as const)),
  );
}

/** A line with the address of a server. */
const ADDRESS = /http:\/\/127\.0\.0\.1:\d+/;

/**
 * Starts a program that serves, and waits for a text in its output.
 *
 * @returns its address and its output; disposing it stops the program
 */
export async function serve(
  command: readonly [program: string, ...parameters: string[]],
  cwd: string,
  env: Record<string, string | undefined> = {},
  expected = ADDRESS,
): Promise<{ url: string; output: () => string } & AsyncDisposable> {
  const [program, ...parameters] = command;
  const child = spawn(program, parameters, {
    cwd,
    env: { ...shellEnvironment, HOST: "127.0.0.1", PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    // A separate process group, which gets the signal as a whole, as in a terminal.
    detached: true,
  });
  const ended = once(child, "close");
  let said = "";
  const found = new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        said += `${line}\n`;
        if (expected.test(said)) resolve();
      });
    }
    void ended.then(() => reject(new Error(`it ended before it served:\n${said}`)));
  });
  await found;
  return {
    url: ADDRESS.exec(said)?.[0] ?? "",
    output: () => said,
    [Symbol.asyncDispose]: async () => {
      process.kill(-(child.pid ?? 0), "SIGINT");
      await ended;
    },
  };
}
