/** The channels of workers to their pool: of a process, and of a thread. @module */
import { nodeModule } from "../../common/platform.js";
import type { Envelope, Order } from "./protocol.js";
import type { WorkerPort } from "./worker.js";

/** Set in the environment of each process that a pool starts. */
export const POOL_WORKER = "TSGI_POOL_WORKER";

/** Milliseconds between two checks that the server is still there. */
const WATCH_MS = 1000;

/** Signals that a terminal or a supervisor sends to the whole process group. The server ends its workers itself. */
const GROUP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * A server that is killed cannot end its workers. They notice when the channel to it closes, but not in an endless
 * loop: a separate thread detects that the parent has changed, or on Windows, where it never does, that it has ended.
 */
function watchParent(): void {
  const { Worker: Thread } = nodeModule("node:worker_threads", "A pool of processes");
  const program = `const isRunning = (pid) => {
    try {
      return process.kill(pid, 0);
    } catch (error) {
      return error.code !== "ESRCH";
    }
  };
  setInterval(() => {
    if (process.ppid === ${process.ppid} && isRunning(${process.ppid})) return;
    process.kill(process.pid, "SIGKILL");
  }, ${WATCH_MS});`;
  const resourceLimits = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 };
  new Thread(program, { eval: true, execArgv: [], argv: [], env: {}, resourceLimits }).unref();
}

function ignoreGroupSignals(): void {
  for (const signal of GROUP_SIGNALS) {
    process.removeAllListeners(signal); // Node cannot block a signal, and a listener of the application may exit.
    process.on(signal, () => {});
  }
}

/** Opens the channel of this process, which a pool has started. Without one it is of no use, and ends. */
export function openProcessPort(): WorkerPort {
  delete process.env[POOL_WORKER]; // A program that the application starts is not a worker.
  if (process.send === undefined) process.exit(1);
  process.on("disconnect", () => process.exit());
  ignoreGroupSignals();
  let isWatched = false;
  return {
    send: (report) =>
      new Promise((resolve) => {
        // An error means that the channel is closed, which ends this process.
        process.send?.({ tsgiReport: report } satisfies Envelope, undefined, {}, () => resolve());
      }),
    onOrder: (listener) =>
      process.on("message", (order: Order) => {
        const { type } = order;
        if (type === "use") ignoreGroupSignals(); // once more, without the listeners of the application's module
        if (type === "run" && !isWatched) {
          isWatched = true;
          watchParent();
        }
        listener(order);
      }),
    ref: () => process.channel?.ref(),
    unref: () => process.channel?.unref(),
  };
}

/** The `workerData` of each thread that a pool starts. */
export interface ThreadData {
  readonly tsgiPoolWorker: {
    /** A file from which `tsx` resolves; `null` where this process has not loaded it. */
    readonly tsx: string | null;
  };
}

/** The port of a thread, a `MessagePort` of `node:worker_threads`. */
interface MessagePort {
  postMessage(message: unknown): void;
  on(event: "message", listener: (order: Order) => void): unknown;
  ref(): void;
  unref(): void;
}

/** The channel over the port of a thread. */
export function toThreadPort(port: MessagePort): WorkerPort {
  return {
    send: async (report) => port.postMessage({ tsgiReport: report } satisfies Envelope),
    onOrder: (listener) => port.on("message", listener),
    ref: () => port.ref(),
    unref: () => port.unref(),
  };
}
