/** Runs a program that may start others without end: within limits, and in a separate process group. */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Processes in the group above which it is killed. */
const MAX_PROCESSES = 10;

/** Threads that the user `nobody` may have. Node starts about 11 in each process. */
const MAX_THREADS = 400;

/** Milliseconds between two counts. */
const COUNT_MS = 10;

/** The command within a limit of the kernel. It does not apply to root, so that root runs it as `nobody`. */
function limited(command: readonly string[]): readonly string[] {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return command;
  const limits = `setpriv --reuid=65534 --regid=65534 --clear-groups prlimit --nproc=${MAX_THREADS} --`;
  return [...limits.split(" "), ...command];
}

/** A program that runs within limits. */
export class LimitedProgram implements AsyncDisposable {
  readonly ended: Promise<number | null>;
  output = "";
  /** The most processes that it had at a time. */
  peak = 0;
  readonly #child: ChildProcess;
  readonly #timer: NodeJS.Timeout;
  #wake: () => void = () => {};

  constructor([name = "", ...args]: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}) {
    const { PATH } = process.env;
    const options = { cwd, detached: true, env: { PATH, ...env } };
    this.#child = spawn(name, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    for (const output of [this.#child.stdout, this.#child.stderr]) {
      output?.on("data", (chunk: Buffer) => {
        this.output += chunk.toString();
        this.#wake();
      });
    }
    this.#timer = setInterval(() => {
      this.peak = Math.max(this.peak, this.members().length);
      if (this.peak > MAX_PROCESSES) this.#kill("SIGKILL");
    }, COUNT_MS);
    this.ended = new Promise((resolve) => {
      this.#child.once("close", (code) => {
        resolve(code);
        this.#wake();
      });
    });
  }

  /** Runs a command with a limit on its processes. */
  static start(command: readonly string[], cwd: string, env?: NodeJS.ProcessEnv): LimitedProgram {
    return new LimitedProgram(limited(command), cwd, env);
  }

  /** The ids of its processes that run. */
  members(): string[] {
    return readdirSync("/proc").filter((name) => {
      if (!/^\d+$/.test(name)) return false;
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "utf8");
        const [state, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        return Number(group) === this.#child.pid && state !== "Z";
      } catch {
        return false; // it has just ended
      }
    });
  }

  /** Waits for a text. */
  async said(pattern: RegExp): Promise<string> {
    for (;;) {
      const match = pattern.exec(this.output);
      if (match) return match[1] ?? match[0];
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) throw new Error(this.output);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Ends the program as a supervisor does. Gives its exit code. */
  stop(): Promise<number | null> {
    this.#child.kill("SIGTERM");
    return this.ended;
  }

  #kill(signal: NodeJS.Signals): void {
    try {
      process.kill(-(this.#child.pid as number), signal);
    } catch {
      // the group has ended
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#kill("SIGKILL");
    await this.ended;
  }
}
