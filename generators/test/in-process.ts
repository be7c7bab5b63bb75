import { Socket } from "node:net";
import { join } from "node:path";
import type { main } from "../src/cli.js";
import { packageRoot, shellEnvironment, type Result, type Surroundings } from "./support.js";

/** Replaces an output of this process. A pipe is a socket too. */
class Output extends Socket {
  text = "";

  override write(chunk: string | Uint8Array): boolean {
    this.text += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
    return true;
  }
}

/** One call at a time: a process has one current folder, one environment and one standard output. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs the command in this process, as `main` of the bundle that the program loads. A start of the program takes 0.3 s of
 * processor time, a call of `main` 0.02 s. The output of its child processes is not part of the result.
 *
 * @param root the folder of the package, which has the templates
 */
export function createTsgi(
  parameters: readonly string[],
  surroundings: Pick<Surroundings, "cwd" | "env">,
  root = packageRoot,
): Promise<Result> {
  const call = last.then(() => callMain(parameters, surroundings, root));
  last = call.catch(() => {});
  return call;
}

/** Runs the command once for each list of arguments. */
export async function createTsgiInOrder(
  calls: readonly (readonly string[])[],
  surroundings: Pick<Surroundings, "cwd" | "env">,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const parameters of calls) results.push(await createTsgi(parameters, surroundings));
  return results;
}

async function callMain(
  parameters: readonly string[],
  { cwd, env }: Pick<Surroundings, "cwd" | "env">,
  root: string,
): Promise<Result> {
  const bundle = (await import(join(packageRoot, "dist/bundle/cli.js"))) as { main: typeof main };
  const [stdout, stderr] = [new Output(), new Output()];
  const own = { cwd: process.cwd(), env: { ...process.env }, stdout: process.stdout, stderr: process.stderr };
  process.chdir(cwd);
  replaceEnvironment({ ...shellEnvironment, ...env });
  replaceOutputs(stdout, stderr);
  try {
    const status = await bundle.main(parameters, root);
    return { status, stdout: stdout.text, stderr: stderr.text };
  } finally {
    replaceOutputs(own.stdout, own.stderr);
    replaceEnvironment(own.env);
    process.chdir(own.cwd);
  }
}

function replaceOutputs(stdout: unknown, stderr: unknown): void {
  Object.defineProperty(process, "stdout", { value: stdout, configurable: true });
  Object.defineProperty(process, "stderr", { value: stderr, configurable: true });
}

function replaceEnvironment(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) delete process.env[name];
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined) process.env[name] = value;
  }
}
