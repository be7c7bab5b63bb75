import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** The folder of this package. */
export const packageRoot = join(import.meta.dirname, "..");

/** The repository that contains it. */
export const repositoryRoot = dirname(packageRoot);

/** The exit status of a command, and its output. */
export interface Result {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** The folder and the input of a command. */
export interface Surroundings {
  cwd: string;
  /** Set on top of the environment of the tests; `undefined` takes a variable away. */
  env?: Record<string, string | undefined>;
  /** Its timeout. Default: five minutes. */
  patienceMs?: number;
  /** Written to its standard input, which is closed then. Empty by default. */
  input?: string;
}

/**
 * Variables that npm, jest, a CI service or a Git hook may have set for the tests, and that would affect the commands
 * here.
 */
const foreign = Object.keys(process.env).filter((name) =>
  /^(?:npm_|JEST_|GIT_|TSGI_|CI$|NODE_ENV$|NODE_OPTIONS$)/i.test(name),
);

/** The environment of a command in a new shell. */
// A project with jobs is for Node 22.12 or later.
process.env["CREATE_TSGI_NODE"] ??= "22.12.0";

export const shellEnvironment: NodeJS.ProcessEnv = {
  ...process.env,
  ...Object.fromEntries(foreign.map((name) => [name, undefined])),
};

/** Longer than anything takes that a test of this package waits for, the tests of a whole project apart. */
const longEnoughMs = 300_000;

/** Runs a program to its end, and kills it after a timeout. */
export async function run(
  program: string,
  parameters: readonly string[],
  { cwd, env, input = "", patienceMs = longEnoughMs }: Surroundings,
): Promise<Result> {
  const child = spawn(program, parameters, { cwd, env: { ...shellEnvironment, ...env }, timeout: patienceMs });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  // A command that ends without reading closes the pipe under the writer.
  child.stdin.on("error", () => {}).end(input);
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { status, ...output };
}

/** The program of this package, which `npm create tsgi` runs. */
export const program = join(packageRoot, "bin/create-tsgi.js");

/** Runs the program of this package, without npm. */
export function spawnTsgi(parameters: readonly string[], surroundings: Surroundings): Promise<Result> {
  return run(process.execPath, [program, ...parameters], surroundings);
}

/** A folder that is removed at the end of the surrounding block. */
export async function temporaryFolder(): Promise<{ path: string } & AsyncDisposable> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "create-tsgi-")));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Whether a program is on the path. */
export function hasProgram(name: string): boolean {
  return (process.env["PATH"] ?? "").split(":").some((folder) => existsSync(join(folder, name)));
}
