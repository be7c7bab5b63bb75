/** One check of a program by a fresh compiler. @module */
import { execFile } from "node:child_process";

/** The outcome of a check. */
export interface Check {
  /** User and system time of the compiler, its threads together. */
  readonly cpuMs: number;
  /** As the compiler counts it. */
  readonly memoryMiB: number;
  readonly instantiations: number;
  /** In the compiler's form: `app.ts(1,2): error TS…`. */
  readonly errors: readonly string[];
}

/** The slowest check takes a minute on a slow machine. */
const TIMEOUT_MS = 300_000;

/**
 * Checks a program, given by the path of its `tsconfig.json`.
 *
 * @throws Error with the end of its output when the compiler breaks down.
 */
export async function check(compiler: string, program: string): Promise<Check> {
  const line = [process.execPath, compiler, "-p", program, "--pretty", "false", "--extendedDiagnostics"];
  // The shell reads the times of its child, which Node does not tell.
  const { stdout, stderr } = await run("bash", ["-c", 'TIMEFORMAT="%U %S"; time "$@"', "bash", ...line]);
  const [user, system] = (stderr.trim().split("\n").at(-1) ?? "").split(" ").map(Number);
  const figure = (name: string): number => Number(new RegExp(`^${name}: +(\\d+)`, "m").exec(stdout)?.[1]);
  const found = {
    cpuMs: 1_000 * ((user ?? Number.NaN) + (system ?? Number.NaN)),
    memoryMiB: figure("Memory used") / 1024,
    instantiations: figure("Instantiations"),
  };
  if (!Object.values(found).every(Number.isFinite)) {
    throw new Error(`The check of ${program} failed: ${(stdout + stderr).trim().slice(-2_000)}`);
  }
  return { ...found, errors: stdout.split("\n").filter((text) => text.includes(": error TS")) };
}

/** The status of a compiler that found errors is not 0. */
function run(command: string, args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(command, args, { timeout: TIMEOUT_MS, maxBuffer: 2 ** 26 }, (_error, stdout, stderr) =>
      resolve({ stdout, stderr }),
    );
  });
}
