/** Starts workers as threads. @module */
import { configurationError } from "../../common/exceptions.js";
import { nodeModule } from "../../common/platform.js";
import { findProgram } from "./program.js";
import { deliver, type EntryModule, type Spawn, type WorkerEvents, type WorkerHandle } from "./protocol.js";
import type { ThreadData } from "./thread-port.js";
import { findTsx } from "./thread-typescript.js";

/** Finds the program of worker threads. @throws ConfigurationError for a single executable, whose threads need a file. */
export function prepareThreads(entry: EntryModule | null): Spawn {
  const program = findProgram(() => new URL("./thread-worker.js", import.meta.url), entry);
  if (program === null) throw configurationError("TSGI_BUNDLED_POOL");
  return (events) => spawn(program, events);
}

/** Starts a worker thread. */
function spawn(program: string, events: WorkerEvents): WorkerHandle {
  const { Worker } = nodeModule("node:worker_threads", "A pool of threads");
  const worker = new Worker(program, {
    argv: process.argv.slice(2),
    workerData: { tsgiPoolWorker: { tsx: findTsx() } } satisfies ThreadData,
  });
  let fault: string | null = null;
  worker.on("message", (message) => deliver(message, events));
  worker.on("error", (error: unknown) => (fault = `by an error that nobody caught (${String(error)})`));
  worker.on("exit", (code) => events.gone(fault ?? `with exit code ${code}`));
  worker.unref(); // Listening to messages has made it one that is waited for.
  return {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    send: (order) => worker.postMessage(order),
    kill: () => void worker.terminate(),
    stop: () => void worker.terminate(),
  };
}
