/** Finds out if this process or thread is a worker of a pool. @module */
import { hasWorkers, nodeModule } from "../../common/platform.js";
import { installedHost, type WorkerHost } from "./host.js";
import { openProcessPort, POOL_WORKER, type ThreadData, toThreadPort } from "./ports.js";
import { runWorker, type WorkerPort } from "./worker.js";

let isKnown = false;

/**
 * The worker that this code runs in, or `null` in the server's own process and thread. A pool of a bundle or of a single
 * executable starts the application itself as a worker: the first call makes it one.
 */
export function workerHost(): WorkerHost | null {
  if (!isKnown) {
    isKnown = true;
    const port = installedHost() === null ? findPort() : null;
    if (port !== null) runWorker(port, { isProgram: true });
  }
  return installedHost();
}

function findPort(): WorkerPort | null {
  if (!hasWorkers()) return null;
  if (isMarked()) return openProcessPort();
  const { parentPort, ...thread } = nodeModule("node:worker_threads", "A pool of threads");
  const { tsgiPoolWorker } = ((thread.workerData as unknown) ?? {}) as Partial<ThreadData>;
  return tsgiPoolWorker === undefined || parentPort === null ? null : toThreadPort(parentPort);
}

/** The part of the global `Deno` that is used here. */
interface DenoPermissions {
  readonly permissions: { querySync(descriptor: object): { state: string } };
}

/** Deno asks the person at the terminal before a variable is read for which it has no permission. No worker lacks it. */
function isMarked(): boolean {
  const globals: typeof globalThis & { Deno?: DenoPermissions } = globalThis;
  const { Deno } = globals;
  const permission = Deno?.permissions.querySync({ name: "env", variable: POOL_WORKER }).state ?? "granted";
  return permission === "granted" && process.env[POOL_WORKER] !== undefined;
}
