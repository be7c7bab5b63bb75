/** Runs a measurement in a separate process. @module */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { onCore } from "./cores.js";
import { parseReport, type WorkerReport } from "./report.js";

/** No measuring process needs longer. */
const TIMEOUT_MS = 300_000;

/** The output of a process. */
export interface Run {
  readonly stdout: string;
}

/**
 * Runs a script in a fresh Node process.
 *
 * @throws Error with the end of the script's stderr when it fails or takes too long.
 */
export function runScript(script: URL, args: readonly string[] = [], core: number | null = null): Promise<Run> {
  const line = [process.execPath, fileURLToPath(script), ...args];
  const [command = "", ...rest] = core === null ? line : onCore(core, line);
  return new Promise((resolve, reject) => {
    execFile(
      command,
      rest,
      { timeout: TIMEOUT_MS, env: { ...process.env, NODE_ENV: "production" } },
      (error, stdout, stderr) => {
        if (error === null) {
          resolve({ stdout });
        } else {
          reject(
            new Error(`${fileURLToPath(script)} ${args.join(" ")} failed: ${stderr.trim().slice(-2_000)}`, {
              cause: error,
            }),
          );
        }
      },
    );
  });
}

/** Runs a measuring script in a fresh process and returns its report. @throws Error without a report. */
export async function runWorker(
  script: URL,
  args: readonly string[],
  core: number | null = null,
): Promise<WorkerReport> {
  return parseReport((await runScript(script, args, core)).stdout);
}
