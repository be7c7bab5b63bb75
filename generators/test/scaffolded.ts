import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, statSync } from "node:fs";
import { cp, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll } from "@jest/globals";
import type { TemplateName } from "../src/options.js";
import {
  createTsgi,
  createTsgiInOrder,
  repositoryRoot,
  run,
  shellEnvironment,
  temporaryFolder,
  type Result,
} from "./support.js";

/** A project as the command writes it, with the repository's packages in the place of an installation. */
export interface Scaffolded extends AsyncDisposable {
  path: string;
  /** Runs a program of its packages, such as `tsc`. */
  tool(name: string, ...parameters: string[]): Promise<Result>;
  /** Runs the command in its folder. */
  create(...parameters: string[]): Promise<Result>;
  /** Runs the command in its folder once for each list of arguments, all in one process. */
  createInOrder(calls: readonly (readonly string[])[]): Promise<Result[]>;
  /** Runs its tests, or those that are named. */
  test(...paths: string[]): Promise<Result>;
  /** Runs one of its scripts. */
  script(name: string, env?: Record<string, string>): Promise<Result>;
  /** The output of its own script `check`, after a build. */
  check(): Promise<Result>;
  /** All files that are the project's own, with their text. */
  files(): Promise<Map<string, string>>;
}

/** The projects that this test file has asked for, each written once, by their arguments. */
const written = new Map<string, ReturnType<typeof temporaryFolder>>();

afterAll(async () => {
  for (const folder of await Promise.all(written.values())) await folder[Symbol.asyncDispose]();
});

async function write(parameters: readonly string[]) {
  const folder = await temporaryFolder();
  const made = await createTsgi(["my-app", "--yes", "--no-install", "--no-git", ...parameters], { cwd: folder.path });
  if (made.status !== 0) {
    await folder[Symbol.asyncDispose]();
    throw new Error(made.stderr);
  }
  return folder;
}

/**
 * A project of a template, in a folder that is removed at the end of the block: a copy of the one that the command wrote
 * when the test file first asked for it.
 */
export async function scaffold(template: TemplateName, ...flags: string[]): Promise<Scaffolded> {
  const args = ["--template", template, ...flags];
  const key = args.join(" ");
  let original = written.get(key);
  if (original === undefined) written.set(key, (original = write(args)));
  const folder = await temporaryFolder();
  const path = join(folder.path, "my-app");
  await cp(join((await original).path, "my-app"), path, { recursive: true, preserveTimestamps: true });
  await symlink(join(repositoryRoot, "node_modules"), join(path, "node_modules"));
  const env = {
    PATH: `${join(path, "node_modules/.bin")}:${process.env["PATH"]}`,
    NODE_OPTIONS: undefined,
  };
  const tool = (name: string, ...parameters: string[]) => run(name, parameters, { cwd: path, env });
  const shell = (line: string) => run("sh", ["-c", line], { cwd: path, env });
  // A project on Deno does not have one.
  const manifest = join(path, "package.json");
  const { scripts = {} } = existsSync(manifest) ? JSON.parse(await readFile(manifest, "utf8")) : {};
  return {
    path,
    tool,
    create: (...parameters) => createTsgi(parameters, { cwd: path }),
    createInOrder: (calls) => createTsgiInOrder(calls, { cwd: path }),
    test: (...paths) => {
      const [, jest = ""] = /(?:^|&& )(node .*jest\.js)$/.exec(String(scripts.test)) ?? [];
      return shell(`${jest} -i ${paths.join(" ")}`);
    },
    script: (name, more) => run("npm", ["run", "--silent", name], { cwd: path, env: { ...env, ...more } }),
    check: () => shell(String(scripts.check)),
    files: async () => {
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
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/**
 * Starts a program that serves, and waits until it says where.
 *
 * @returns its address, and what ends it
 */
export async function serve(
  command: readonly [program: string, ...parameters: string[]],
  cwd: string,
  env: Record<string, string | undefined> = {},
): Promise<{ url: string } & AsyncDisposable> {
  const [program, ...parameters] = command;
  const child = spawn(program, parameters, {
    cwd,
    env: { ...shellEnvironment, HOST: "127.0.0.1", PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    // A separate process group, which gets the signal as a whole, as in a terminal.
    detached: true,
  });
  const ended = once(child, "close");
  const found = new Promise<string>((resolve, reject) => {
    let said = "";
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        said += `${line}\n`;
        const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
        if (url !== undefined) {
          resolve(url);
        }
      });
    }
    void ended.then(() => reject(new Error(`it ended before it served:\n${said}`)));
  });
  return {
    url: await found,
    [Symbol.asyncDispose]: async () => {
      process.kill(-(child.pid ?? 0), "SIGINT");
      await ended;
    },
  };
}
