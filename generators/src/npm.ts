import { spawn } from "node:child_process";
import { CommandError, ExitCode } from "./errors.js";
import { environmentForNpm } from "./npm-flags.js";

/** npm was stopped by Ctrl-C. The signal reaches it and this process at the same time, and either may be the first. */
export class InterruptedError extends CommandError {
  override readonly name = "InterruptedError";
}

/** How npm is run. */
export interface NpmRun {
  cwd: string;
  /** Where its output goes: to the terminal, or there only when it fails. */
  output: "terminal" | "on failure";
}

/**
 * Runs npm to its end: the one that started this process, else the one on the path.
 *
 * @throws InterruptedError when Ctrl-C ended it
 * @throws CommandError when it cannot be started or ends with another status than 0
 */
export async function runNpm(parameters: readonly string[], { cwd, output }: NpmRun): Promise<void> {
  const own = process.env["npm_execpath"];
  const isNpm = own !== undefined && /[/\\]npm-cli\.c?js$/.test(own);
  const [command, first] = isNpm ? [process.execPath, [own]] : ["npm", []];
  const child = spawn(command, [...first, ...parameters], {
    cwd,
    env: environmentForNpm(process.env),
    stdio: output === "terminal" ? ["ignore", "inherit", "inherit"] : ["ignore", "pipe", "pipe"],
    // On Windows npm is a batch file, which only a shell can run; the parameters are fixed words of our own.
    shell: !isNpm && process.platform === "win32",
  });
  const chunks: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr?.on("data", (chunk: Buffer) => chunks.push(chunk));

  // A signal that ends this process, and reaches it alone, shall not leave npm at work.
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
    throw new (interrupted ? InterruptedError : CommandError)(`npm ${parameters[0]} in ${cwd} ${fault}`);
  }
}
