/** A process of `tsgi dev`, as the command sees it. @module */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { Socket } from "node:net";
import path from "node:path";
import type { Readable } from "node:stream";
import { setImmediate as loopTurn, setTimeout as wait } from "node:timers/promises";
import type { WriteStream } from "node:tty";
import { fileURLToPath } from "node:url";
import type { ServeOrder } from "./history.js";
import type { Recorded } from "./inspector/recorder.js";
import { PrettyLog } from "./pretty-log.js";
import type { RunFlags } from "./run.js";

/** Milliseconds that it has to end before it is killed. Its server closes its open connections before that. */
const END_MS = 1500;

/** Milliseconds for the rest of its output: a child process that outlives it keeps its outputs open. */
const OUTPUT_MS = 250;

const PROGRAM = fileURLToPath(new URL("dev-child.js", import.meta.url));

/** The flags that reach each process. */
export interface ServedFlags extends RunFlags {
  /** Print a line for each request. */
  readonly accessLog: boolean;
}

/** The input of each process. */
export interface DevProgram {
  /** The module of the application. */
  file: string;
  flags: ServedFlags;
  /** Files of variables, which it reads when it begins to serve. */
  envFiles: readonly string[];
  env: NodeJS.ProcessEnv;
}

/** A message to a process: to serve, and later to end. */
export type DevOrder = ServeOrder | "end";

/** A message of a process: that it serves, its requests, or Node's report of the files that the application imports. */
type Message =
  | "ready"
  | { requests: readonly Recorded[] }
  | { requests?: undefined; "watch:import"?: readonly string[]; "watch:require"?: readonly (string | null)[] };

/** The events of a process. */
export interface DevEvents {
  /** Called with the path of each file that the application imports. */
  readonly onImport: (file: string) => void;
  /** Called with requests that have changed. */
  readonly onRequests: (requests: readonly Recorded[]) => void;
}

/** The path of an imported file; `null` for a built-in module. */
function toPath(imported: string | null): string | null {
  const name = imported?.startsWith("file:") ? fileURLToPath(imported.replace(/[?#].*$/s, "")) : imported;
  return name !== null && path.isAbsolute(name) ? name : null;
}

/** One process. It loads everything but the application before `serve`. */
export class DevProcess {
  readonly #child: ChildProcess;
  /** Resolves when it serves. */
  readonly ready: Promise<void>;
  /** Resolves to `"SIGKILL"` or `"exit code 1"` when it has ended. */
  readonly ended: Promise<string>;

  #isReady = false;

  /** The files that it has imported. */
  readonly loaded = new Set<string>();

  constructor({ file, flags, envFiles, env }: DevProgram, { onImport, onRequests }: DevEvents) {
    this.#child = fork(PROGRAM, [file, JSON.stringify(flags), ...envFiles], {
      env: { ...colorsOf(env), ...env },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    const outputs = [this.#child.stdout, this.#child.stderr].filter((output) => output !== null);
    for (const [index, output] of outputs.entries()) show(output, index === 0 ? process.stdout : process.stderr);
    const closed = once(this.#child, "close");
    this.ready = new Promise((resolve) => {
      this.#child.on("message", (message: Message) => {
        if (message === "ready") {
          this.#isReady = true;
          void loopTurn().then(resolve); // after its earlier output
          return;
        }
        if (message.requests !== undefined) return onRequests(message.requests);
        const files = [...(message["watch:import"] ?? []), ...(message["watch:require"] ?? [])];
        for (const name of files.flatMap((imported) => toPath(imported) ?? [])) {
          this.loaded.add(name);
          onImport(name);
        }
      });
    });
    this.#child.on("error", () => {}); // a message to a process that has just ended
    this.ended = new Promise((resolve) => {
      this.#child.once("exit", (code, signal) => {
        const timeout = wait(OUTPUT_MS, null, { ref: false }).then(() => outputs.forEach(release));
        void Promise.race([closed, timeout]).then(() => resolve(signal ?? `exit code ${code}`));
      });
    });
  }

  /** `true` while it can begin to serve. */
  get isAlive(): boolean {
    return this.#child.connected && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Lets it load the application and serve. */
  serve(order: ServeOrder): void {
    this.#child.send(order satisfies DevOrder);
  }

  /** Asks it to end, and kills it when it does not. By a message: on Windows, a signal would not let its hooks run. */
  async end(): Promise<void> {
    if (this.#isReady && this.isAlive) this.#child.send("end" satisfies DevOrder);
    else this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.kill(), END_MS);
    await this.ended;
    clearTimeout(timer);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}

/** Shows an output of the process. */
function show(output: Readable, terminal: NodeJS.WriteStream | WriteStream): void {
  const hasColors = "hasColors" in terminal && terminal.hasColors();
  // Not piped: a pipe to a closed terminal stops reading, and the process would wait for it.
  output.pipe(new PrettyLog({ hasColors })).on("data", (chunk: Buffer) => void terminal.write(chunk));
}

/** Lets the command end although the output is open. */
function release(output: Readable): void {
  if (output instanceof Socket) output.unref();
}

/** Has the process write colors although its outputs are pipes, where the command's own are a terminal that has them. */
function colorsOf({ NO_COLOR, FORCE_COLOR }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isTerminal = process.stdout.isTTY && process.stderr.isTTY && process.stdout.hasColors();
  return isTerminal && NO_COLOR === undefined && FORCE_COLOR === undefined ? { FORCE_COLOR: "1" } : {};
}
