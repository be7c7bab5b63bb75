/** Starts workers, as processes or as threads. @module */
import type { ChildProcess, ForkOptions } from "node:child_process";
import { isStandalone, nodeModule } from "../../common/platform.js";
import { POOL_WORKER, type ThreadData } from "./ports.js";
import { deliver, type EntryModule, type Spawn, type WorkerEvents, type WorkerHandle } from "./protocol.js";
import { configurationError } from "../../common/exceptions.js";
import { errorText } from "../../common/logger.js";
import type { WorkerKind } from "./options.js";
import { findTsx } from "./thread-typescript.js";

// oxlint-disable-next-line no-underscore-dangle -- the name that webpack defines in its bundles
declare const __webpack_require__: unknown;

/**
 * The places of the workers' own programs; `null` in a bundle of webpack, which would copy these files without the modules
 * that they import.
 */
const PROGRAMS =
  typeof __webpack_require__ === "function"
    ? null
    : {
        process: () => new URL("./process-worker.js", import.meta.url),
        thread: () => new URL("./thread-worker.js", import.meta.url),
      };

/**
 * The file that a worker runs: the worker's own program, or the application if a bundler has put both into one file.
 * The application then finds out by itself that it is in a worker. `null` in a single executable, which contains it.
 *
 * @throws ConfigurationError without an application, if a bundle or an executable contains this package.
 */
function findProgram(kind: WorkerKind, entry: EntryModule | null): string | null {
  const own = isStandalone() || PROGRAMS === null ? null : existing(PROGRAMS[kind]);
  if (own !== null) return own;
  if (entry === null) throw configurationError("TSGI_BUNDLED_POOL");
  if (isStandalone()) return null;
  return existing(() => new URL(entry.url)) ?? entry.main;
}

/** The file of an address, if it exists. @param locate - Throws in a CommonJS bundle, which has no `import.meta.url`. */
function existing(locate: () => URL): string | null {
  const { existsSync } = nodeModule("node:fs", "A pool");
  const { fileURLToPath } = nodeModule("node:url", "A pool");
  try {
    const file = fileURLToPath(locate());
    return existsSync(file) ? file : null;
  } catch {
    return null;
  }
}

/** Milliseconds that an idle worker gets to end by itself. */
const STOP_MS = 1000;

/** Running workers. They exit together with this process, even in an endless loop. */
const living = new Set<ChildProcess>();

/** Options of Node that apply to only one process: a debugger's port, code to evaluate, a watcher. */
const OWN_OPTION = /^--?(inspect|debug|eval|e$|print|p$|pe$|check|c$|interactive|i$|watch|test|input-type)/;

/** The options of this process, so that a worker loads what this one loads: TypeScript through `tsx`, for one. */
function inheritedOptions(): string[] {
  return process.execArgv.filter((option, index, all) => {
    return !OWN_OPTION.test(option) && !/^-(e|p|pe)$|^--(eval|print)$/.test(all[index - 1] ?? "");
  });
}

function killAll(): void {
  for (const child of living) child.kill("SIGKILL");
}

/** Finds the program of worker processes. @throws ConfigurationError if it does not exist. */
export function prepareProcesses(entry: EntryModule | null): Spawn {
  const program = findProgram("process", entry);
  return (events) => spawnProcess(program, events);
}

/** Starts a worker process. @param program - A file; `null` for the executable of this process. */
function spawnProcess(program: string | null, events: WorkerEvents): WorkerHandle {
  const child = startProcess(program);
  if (living.size === 0) process.on("exit", killAll);
  living.add(child);
  child.unref();
  child.channel?.unref?.(); // Bun does not provide it: there, the process has the methods of its channel
  return watch(child, events);
}

function startProcess(program: string | null): ChildProcess {
  const { NODE_UNIQUE_ID: _, ...env } = process.env; // It would take itself for a worker of node:cluster.
  const { fork, spawn: start } = nodeModule("node:child_process", "A pool of processes");
  const options: ForkOptions = {
    serialization: "advanced",
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    env: { ...env, [POOL_WORKER]: "1" },
  };
  const args = process.argv.slice(2);
  return program === null
    ? start(process.execPath, args, options)
    : fork(program, args, { ...options, execArgv: inheritedOptions() });
}

function watch(child: ChildProcess, events: WorkerEvents): WorkerHandle {
  let how: string | null = null;
  let isDisconnected = false;
  let isGone = false;
  let timer: NodeJS.Timeout | undefined;
  const reportGone = () => {
    // Messages may come after the exit event: only the end of the channel is the last event.
    if (isGone || how === null || !isDisconnected) return;
    isGone = true;
    clearTimeout(timer);
    living.delete(child);
    if (living.size === 0) process.off("exit", killAll);
    events.gone(how);
  };
  child.on("message", (message) => deliver(message, events));
  child.on("exit", (code, signal) => {
    how = signal === null ? `with exit code ${code}` : `by ${signal}`;
    reportGone();
  });
  child.on("disconnect", () => {
    isDisconnected = true;
    if (!timer) child.kill("SIGKILL"); // Without a channel it cannot be used, even if it still runs.
    reportGone();
  });
  child.on("error", (error) => {
    if (child.pid !== undefined) return; // A message that could not be sent: the exit follows.
    how = `before it began (${error.message})`;
    isDisconnected = true;
    reportGone();
  });
  return {
    send: (order) => void child.send(order, undefined, {}, () => {}),
    kill: () => void child.kill("SIGKILL"),
    stop: () => {
      timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      if (child.connected) child.disconnect();
    },
  };
}

/** Finds the program of worker threads. @throws ConfigurationError for a single executable, whose threads need a file. */
export function prepareThreads(entry: EntryModule | null): Spawn {
  const program = findProgram("thread", entry);
  if (program === null) throw configurationError("TSGI_BUNDLED_POOL");
  return (events) => spawnThread(program, events);
}

/** Starts a worker thread. */
function spawnThread(program: string, events: WorkerEvents): WorkerHandle {
  const { Worker } = nodeModule("node:worker_threads", "A pool of threads");
  const worker = new Worker(program, {
    argv: process.argv.slice(2),
    workerData: { tsgiPoolWorker: { tsx: findTsx() } } satisfies ThreadData,
  });
  let fault: string | null = null;
  worker.on("message", (message) => deliver(message, events));
  worker.on("error", (error: unknown) => (fault = `by an uncaught error (${errorText(error)})`));
  worker.on("exit", (code) => events.gone(fault ?? `with exit code ${code}`));
  worker.unref(); // Listening to messages has made it one that is waited for.
  return {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    send: (order) => worker.postMessage(order),
    kill: () => void worker.terminate(),
    stop: () => void worker.terminate(),
  };
}
