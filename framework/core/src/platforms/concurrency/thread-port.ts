/** The channel of a worker thread to its pool. @module */
import type { Envelope, Order } from "./protocol.js";
import type { WorkerPort } from "./worker.js";

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
  on(event: "message", listener: (message: unknown) => void): unknown;
  ref(): void;
  unref(): void;
}

/** The channel over the port of a thread. */
export function toThreadPort(port: MessagePort): WorkerPort {
  return {
    send: async (report) => port.postMessage({ tsgiReport: report } satisfies Envelope),
    onOrder: (listener) => port.on("message", (order) => listener(order as Order)),
    ref: () => port.ref(),
    unref: () => port.unref(),
  };
}
