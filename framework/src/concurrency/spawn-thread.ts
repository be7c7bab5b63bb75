/** Starts workers as threads. @module */
import { nodeModule } from "../platform.js";
import { deliver, type WorkerEvents, type WorkerHandle } from "./protocol.js";
import { findTsx } from "./thread-typescript.js";

/** The `workerData` of a thread. */
export interface ThreadData {
  /** A file from which `tsx` resolves; `null` where this process has not loaded it. */
  readonly tsx: string | null;
}

/** Starts a worker thread. */
export function spawn(events: WorkerEvents): WorkerHandle {
  const { Worker } = nodeModule("node:worker_threads", "A pool of threads");
  const worker = new Worker(new URL("./thread-worker.js", import.meta.url), {
    argv: process.argv.slice(2),
    workerData: { tsx: findTsx() } satisfies ThreadData,
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
