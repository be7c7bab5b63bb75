/** Keeps one child that serves the application, and replaces it when a file changes. @module */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { envFiles, environmentBeside } from "./env-file.js";
import type { RunFlags } from "./serve-options.js";

/** Milliseconds within which files that change together count as one change: editors write in several steps. */
const DEBOUNCE_MS = 30;

/** Milliseconds that a child has to end before it is killed. Its server gives up its open connections before that. */
const END_MS = 1500;

/** Milliseconds in which a further signal is an echo of the first: npm hands on the Ctrl-C that the terminal gave to both. */
const ECHO_MS = 500;

const CHILD = fileURLToPath(new URL("dev-child.js", import.meta.url));

/** One application under `tsgi dev`. */
export class Supervisor {
  /** Resolves when the command is to end and the child has ended. */
  readonly ended: Promise<void>;
  readonly #file: string;
  readonly #flags: RunFlags;
  readonly #env = environmentBeside();
  #child: ChildProcess | null = null;
  #changed = new Set<string>();
  #isReloading = false;
  #stoppedAt: number | null = null;
  #markEnded: () => void = () => {};

  constructor(file: string, flags: RunFlags) {
    this.#file = file;
    this.#flags = flags;
    this.ended = new Promise((resolve) => (this.#markEnded = resolve));
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void this.#stop());
  }

  /** Starts the child. */
  start(): void {
    const startedAt = performance.now();
    const child = fork(CHILD, [this.#file, JSON.stringify(this.#flags), ...envFiles()], {
      env: this.#env,
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#child = child;
    child.on("message", (message) => {
      if (message === "ready") say(`Ready in ${Math.round(performance.now() - startedAt)} ms.`);
    });
    child.on("exit", (code, signal) => {
      if (this.#child !== child) return;
      this.#child = null;
      if (!this.#isReloading && !this.#isStopping) {
        say(`The application ended (${signal ?? `exit code ${code}`}). Waiting for a change.`);
      }
    });
  }

  /** Starts the application anew, once for the files that change together. */
  reload(file: string): void {
    if (this.#isStopping) return;
    this.#changed.add(file);
    if (this.#isReloading) return;
    this.#isReloading = true;
    void this.#reloadWhileChanged();
  }

  get #isStopping(): boolean {
    return this.#stoppedAt !== null;
  }

  async #reloadWhileChanged(): Promise<void> {
    while (this.#changed.size > 0 && !this.#isStopping) {
      await new Promise((resolve) => setTimeout(resolve, DEBOUNCE_MS));
      const files = [...this.#changed];
      this.#changed = new Set();
      await this.#end();
      if (this.#isStopping) return;
      const others = files.length > 1 ? ` and ${files.length - 1} more` : "";
      say(`${files[0]}${others} changed. Starting anew.`);
      this.start();
    }
    this.#isReloading = false;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), END_MS);
    await exited;
    clearTimeout(timer);
  }

  /** Ends the child, then the command. A second signal kills at once. */
  async #stop(): Promise<void> {
    if (this.#stoppedAt !== null) {
      if (performance.now() - this.#stoppedAt >= ECHO_MS) this.#child?.kill("SIGKILL");
      return;
    }
    this.#stoppedAt = performance.now();
    await this.#end();
    this.#markEnded();
  }
}

function say(text: string): void {
  process.stderr.write(`tsgi dev: ${text}\n`);
}
