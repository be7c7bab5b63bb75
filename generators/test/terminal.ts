import { spawn, spawnSync } from "node:child_process";
import { shellEnvironment, type Result, type Surroundings } from "./support.js";

/** One step at a terminal: once the screen shows a text, these keys are pressed. */
export type Step = [screen: RegExp, keys: string];

export const keys = { enter: "\r", down: "\u001B[B", controlC: "\u0003", controlD: "\u0004" };

/** Whether util-linux's `script` is installed, which runs a command in a pseudo-terminal. */
export const hasTerminal = /util-linux/.test(spawnSync("script", ["--version"], { encoding: "utf8" }).stdout ?? "");

/**
 * Runs a command at a real terminal and presses keys when it asks.
 *
 * @returns the exit status; a terminal shows both outputs in one, here `stdout`, without colors and cursor moves
 */
export async function runAtTerminal(
  program: string,
  parameters: readonly string[],
  steps: readonly Step[],
  { cwd, env }: Surroundings,
): Promise<Result> {
  const command = [program, ...parameters].map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["--quiet", "--return", "--flush", "--command", command, "/dev/null"], {
    cwd,
    env: { ...shellEnvironment, TERM: "xterm", ...env },
    // An unexpected prompt would wait indefinitely; the end of `script` hangs up on it.
    timeout: 120_000,
    killSignal: "SIGKILL",
  });
  let shown = "";
  let seen = 0;
  const waiting = [...steps];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    const [step] = waiting;
    const match = step?.[0].exec(withoutControls(shown.slice(seen)));
    if (step && match) {
      seen = shown.length;
      waiting.shift();
      child.stdin.write(step[1]);
    }
  });
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (waiting.length > 0) {
    throw new Error(`never shown: ${waiting[0]?.[0].source}\n${withoutControls(shown)}`);
  }
  return { status, stdout: withoutControls(shown), stderr: "" };
}

function withoutControls(text: string): string {
  // CSI and single-character escape sequences (ECMA-48), and the carriage returns of a terminal.
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/\u001B(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])|\r/g, "");
}
