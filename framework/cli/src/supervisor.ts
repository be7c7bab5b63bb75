/** Keeps one process that serves the application, and replaces it when a file changes. @module */
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { onEndRequest } from "tsgi/internals";
import { History } from "./history.js";
import { DevProcess, type DevProgram } from "./dev-process.js";

/** Milliseconds without another change after which files that change together count as one change. */
const QUIET_MS = 30;

/** Milliseconds after which a change is acted on although others keep coming. */
const PATIENCE_MS = 1000;

/** Files that a process reads while it warms up: their change needs another process. */
const READ_BEFORE = /^(package(-lock)?|npm-shrinkwrap|[jt]sconfig.*)\.json$/;

/**
 * Milliseconds in which a further signal is an echo of the first: npm forwards the Ctrl-C that the terminal already
 * sent to both.
 */
const ECHO_MS = 500;

/** One application under `tsgi dev`. */
export class Supervisor {
  /** Resolves when the command is to end and every process has ended. */
  readonly ended: Promise<void>;
  readonly #program: DevProgram;
  readonly #onImport: (file: string) => void;
  #serving: DevProcess | null = null;
  /** Has loaded Node, the framework and TypeScript, so that the next change loads only the application. */
  #standby: DevProcess | null = null;
  readonly #history = new History();
  #changed = new Set<string>();
  #isReloading = false;
  #stoppedAt: number | null = null;
  #markEnded: () => void = () => {};

  /** @param onImport - Called with the path of each file that the application imports. */
  constructor(program: DevProgram, onImport: (file: string) => void) {
    this.#program = program;
    this.#onImport = onImport;
    this.ended = new Promise((resolve) => (this.#markEnded = resolve));
    onEndRequest(() => void this.#stop());
    process.on("SIGHUP", () => void this.#stop());
  }

  /** Starts the application. */
  start(): void {
    const startedAt = performance.now();
    const serving = this.#standby?.isAlive ? this.#standby : this.#fork();
    this.#standby = null;
    this.#serving = serving;
    serving.serve({ history: this.#history.requests });
    void serving.ready.then(() => {
      say(`Ready in ${Math.round(performance.now() - startedAt)} ms.`);
      this.#warmUp();
    });
    void serving.ended.then((how) => {
      if (this.#serving !== serving) return;
      this.#serving = null;
      if (this.#isReloading || this.#isStopping) return;
      say(`The application ended (${how}). Waiting for a change.`);
      this.#warmUp();
    });
  }

  #fork(): DevProcess {
    return new DevProcess(this.#program, {
      onImport: this.#onImport,
      onRequests: (requests) => this.#history.add(requests),
    });
  }

  #warmUp(): void {
    if (!this.#isStopping) this.#standby ??= this.#fork();
  }

  /** The files that the application has imported; `null` while it does not run, when any file may be the one that it lacks. */
  get loaded(): ReadonlySet<string> | null {
    return this.#serving?.loaded ?? null;
  }

  /** Restarts the application, once for the files that change together. */
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
      const files = await this.#gatherChanges();
      if (files.some((file) => READ_BEFORE.test(path.basename(file)))) this.#dropStandby();
      await this.#serving?.end();
      if (this.#isStopping) return;
      const others = files.length > 1 ? ` and ${files.length - 1} more` : "";
      say(`${files[0]}${others} changed. Restarting.`);
      this.start();
    }
    this.#isReloading = false;
  }

  /** Waits until no more files change: editors write in several steps, and `git checkout` writes hundreds. */
  async #gatherChanges(): Promise<string[]> {
    const latest = performance.now() + PATIENCE_MS;
    for (let count = 0; count < this.#changed.size && performance.now() < latest;) {
      count = this.#changed.size;
      await wait(QUIET_MS);
    }
    const files = [...this.#changed];
    this.#changed = new Set();
    return files;
  }

  #dropStandby(): void {
    this.#standby?.kill();
    this.#standby = null;
  }

  /** Ends the application, then the command. A second signal kills at once. */
  async #stop(): Promise<void> {
    this.#dropStandby();
    if (this.#stoppedAt !== null) {
      if (performance.now() - this.#stoppedAt >= ECHO_MS) this.#serving?.kill();
      return;
    }
    this.#stoppedAt = performance.now();
    await this.#serving?.end();
    this.#markEnded();
  }
}

function say(text: string): void {
  process.stderr.write(`tsgi dev: ${text}\n`);
}
