import { spawn } from "node:child_process";
import { CommandError, ExitCode } from "./errors.js";
import { environmentForNpm } from "./npm-flags.js";
import type { Installer } from "./runtimes.js";

/** npm was stopped by Ctrl-C, which both processes receive in any order. */
export class InterruptedError extends CommandError {
  override readonly name = "InterruptedError";
}

/** Options to run a package manager. */
export interface NpmRun {
  cwd: string;
  /** The destination of its output: standard error, or standard error after a failure only. */
  output: "terminal" | "errors" | "on failure";
  /** Defaults to npm. */
  packageManager?: Installer;
}

/** The destinations of standard output and standard error. */
const streams = { terminal: ["inherit", "inherit"], errors: [2, "inherit"], "on failure": ["pipe", "pipe"] } as const;

/** The program that started this process, by `npm_execpath`: `npm-cli.js`, `pnpm.cjs`, `yarn.js`. */
const ownProgram = /[/\\](npm|pnpm|yarn)(?:-cli)?\.[cm]?js$/;

/**
 * Runs a package manager to its end: the one that started this process, else the one on the path.
 *
 * @throws InterruptedError when Ctrl-C ended it
 * @throws CommandError when it cannot be started or ends with another status than 0
 */
export async function runNpm(
  parameters: readonly string[],
  { cwd, output, packageManager = "npm" }: NpmRun,
): Promise<void> {
  const own = process.env["npm_execpath"];
  const isOwn = own !== undefined && ownProgram.exec(own)?.[1] === packageManager;
  const [command, first] = isOwn ? [process.execPath, [own]] : [packageManager, []];
  const child = spawn(command, [...first, ...parameters], {
    cwd,
    env: environmentForNpm(process.env),
    stdio: ["ignore", ...streams[output]],
    // On Windows they are batch files, which need a shell. The arguments are constants.
    shell: !isOwn && process.platform === "win32",
  });
  const chunks: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr?.on("data", (chunk: Buffer) => chunks.push(chunk));

  // A signal to only this process must not leave npm running.
  const stop = () => child.kill();
  process.once("exit", stop);
  let interrupted = false;
  const fault = await new Promise<string | null>((resolve) => {
    child.once("error", (error) => resolve(`cannot be started: ${error.message}`));
    child.once("close", (status, signal) => {
      interrupted = status === ExitCode.cancelled || signal === "SIGINT";
      resolve(status === 0 ? null : `ended with ${signal ?? `status ${status}`}`);
    });
  });
  process.off("exit", stop);
  if (fault !== null) {
    process.stderr.write(Buffer.concat(chunks));
    throw new (interrupted ? InterruptedError : CommandError)(`${packageManager} ${parameters[0]} in ${cwd} ${fault}`);
  }
}
