/** Runs a program in a separate process. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";

const FIXTURES = join(import.meta.dirname, "fixtures");
const TSX = join(import.meta.dirname, "../../../../../node_modules/tsx/dist/cli.mjs");

export interface ProgramOptions {
  /** Options of Node. */
  readonly node?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Whether it leads a separate process group, as in a shell. */
  readonly isGroup?: boolean;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A program that runs. */
export class Program implements AsyncDisposable {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  stdout = "";
  stderr = "";
  readonly #isGroup: boolean;
  #wake: () => void = () => {};

  private constructor(args: readonly string[], { env, isGroup = false }: ProgramOptions) {
    this.#isGroup = isGroup;
    this.child = spawn(process.execPath, args, {
      stdio: ["ignore", "pipe", "pipe"],
      detached: isGroup,
      env: { ...process.env, NODE_OPTIONS: "", ...env },
    });
    this.child.stdout?.on("data", (chunk: Buffer) => this.#heard("stdout", chunk));
    this.child.stderr?.on("data", (chunk: Buffer) => this.#heard("stderr", chunk));
    this.ended = new Promise((resolve) => {
      // Not "close": that waits for the workers too, which have the same outputs.
      this.child.once("exit", (code, signal) => {
        resolve({ code, signal });
        this.#wake();
      });
    });
  }

  /** Runs a fixture, with `tsx` if it is TypeScript. */
  static start(fixture: string, args: readonly string[] = [], options: ProgramOptions = {}): Program {
    const file = join(FIXTURES, fixture);
    const loader = fixture.endsWith(".ts") ? [TSX] : [];
    return new Program([...(options.node ?? []), ...loader, file, ...args], options);
  }

  #heard(output: "stdout" | "stderr", chunk: Buffer): void {
    this[output] += chunk.toString();
    this.#wake();
  }

  /** Waits for a text on either output, and returns the match of the pattern's first group. */
  async said(pattern: RegExp): Promise<string> {
    for (;;) {
      const match = pattern.exec(this.stdout) ?? pattern.exec(this.stderr);
      if (match) return match[1] ?? match[0];
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        throw new Error(`It ended before it said ${String(pattern)}: ${this.stdout}${this.stderr}`);
      }
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Its standard error output since a call of `stderr.length`. */
  since(length: number): string {
    return this.stderr.slice(length);
  }

  /** Sends a signal to it, or to its whole group as a terminal does. */
  kill(signal: NodeJS.Signals, whom: "program" | "group" = "program"): void {
    const pid = this.child.pid as number;
    process.kill(whom === "group" ? -pid : pid, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null)
      this.kill("SIGKILL", this.#isGroup ? "group" : "program");
    await this.ended;
    this.child.stdout?.destroy();
    this.child.stderr?.destroy();
  }
}

/** Whether a process exists. One that has ended and is not yet waited for by its parent does not count. */
export async function isAlive(pid: number): Promise<boolean> {
  const { readFile } = await import("node:fs/promises");
  try {
    process.kill(pid, 0);
    const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    return !/^\d+ \(.*\) Z/.test(status);
  } catch {
    return false;
  }
}
