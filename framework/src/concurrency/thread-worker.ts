/** The program of a worker thread. @module */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import type { Envelope, Order } from "./protocol.js";
import type { ThreadData } from "./spawn-thread.js";
import { registerTsx } from "./thread-typescript.js";
import { runWorker } from "./worker.js";

async function start(port: MessagePort): Promise<void> {
  const { tsx } = workerData as ThreadData;
  if (tsx !== null) await registerTsx(tsx);
  runWorker({
    send: async (report) => port.postMessage({ tsgiReport: report } satisfies Envelope),
    onOrder: (listener) => port.on("message", (order) => listener(order as Order)),
    ref: () => port.ref(),
    unref: () => port.unref(),
  });
}

if (parentPort) void start(parentPort);
