/** The program of a worker thread. @module */
import { parentPort } from "node:worker_threads";
import type { Envelope, Order } from "./protocol.js";
import { runWorker } from "./worker.js";

if (parentPort) {
  const port = parentPort;
  runWorker({
    send: async (report) => port.postMessage({ tsgiReport: report } satisfies Envelope),
    onOrder: (listener) => port.on("message", (order) => listener(order as Order)),
    ref: () => port.ref(),
    unref: () => port.unref(),
  });
}
