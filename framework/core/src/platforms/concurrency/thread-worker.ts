/** The program of a worker thread. @module */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { type ThreadData, toThreadPort } from "./ports.js";
import { registerTsx } from "./thread-typescript.js";
import { runWorker } from "./worker.js";

async function start(port: MessagePort): Promise<void> {
  const { tsx } = (workerData as ThreadData).tsgiPoolWorker;
  if (tsx !== null) await registerTsx(tsx);
  runWorker(toThreadPort(port));
}

if (parentPort) void start(parentPort);
