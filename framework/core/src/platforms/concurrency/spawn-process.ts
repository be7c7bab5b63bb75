/** Starts workers as processes. @module */
import type { ChildProcess, ForkOptions } from "node:child_process";
import { nodeModule } from "../../common/platform.js";
import { POOL_WORKER } from "./process-port.js";
import { findProgram } from "./program.js";
import { deliver, type EntryModule, type Spawn, type WorkerEvents, type WorkerHandle } from "./protocol.js";

/** Milliseconds that an idle worker gets to end by itself. */
const STOP_MS = 1000;

/** Running workers. They end with this process when it ends by itself, also those in an endless loop. */
const living = new Set<ChildProcess>();

/** Options of Node that belong to one process alone: a debugger's port, a text to run, a watcher. */
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

/** Finds the program of worker processes. @throws ConfigurationError where none can be. */
export function prepareProcesses(entry: EntryModule | null): Spawn {
  const program = findProgram(() => new URL("./process-worker.js", import.meta.url), entry);
  return (events) => spawn(program, events);
}

/** Starts a worker process. @param program - A file; `null` for the executable of this process. */
function spawn(program: string | null, events: WorkerEvents): WorkerHandle {
  const child = startProcess(program);
  if (living.size === 0) process.on("exit", killAll);
  living.add(child);
  child.unref();
  child.channel?.unref?.(); // Bun's has none: there the process stands for its channel
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
  const settle = () => {
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
    settle();
  });
  child.on("disconnect", () => {
    isDisconnected = true;
    if (!timer) child.kill("SIGKILL"); // Without a channel it is of no use, whatever it still does.
    settle();
  });
  child.on("error", (error) => {
    if (child.pid !== undefined) return; // A message that could not be sent: the exit follows.
    how = `before it began (${error.message})`;
    isDisconnected = true;
    settle();
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
