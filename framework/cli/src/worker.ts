/** `tsgi worker`: runs jobs until SIGTERM or SIGINT. @module */
import { once } from "node:events";
import { consoleLogger } from "tsgi/internals";
import { ConfigurationError } from "tsgi";
import { CommandError, EXIT } from "./errors.js";
import { findJobs } from "./find-jobs.js";

/** The flags of `tsgi worker`, as commander reads them. */
export interface WorkerFlags {
  queues?: string[];
  concurrency?: number;
  shutdownTimeout: number;
}

/** Runs jobs. Settles once a signal has stopped the worker, with all its jobs done or given back. */
export async function work(module: string | undefined, flags: WorkerFlags): Promise<void> {
  const jobs = await findJobs(module);
  const signals = Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
  const { queues, concurrency, shutdownTimeout } = flags;
  const options = {
    ...(queues === undefined ? {} : { queues }),
    ...(concurrency === undefined ? {} : { concurrency }),
    shutdownTimeoutMs: shutdownTimeout,
  };
  const worker = await jobs.work(options).catch((error: unknown) => {
    const isUsage = error instanceof ConfigurationError && error.code === "TSGI_UNKNOWN_QUEUE";
    throw isUsage ? new CommandError(error.code, error.message, EXIT.usage) : error;
  });
  consoleLogger.info({}, "The worker takes jobs.");
  await signals;
  await worker.stop();
  await jobs.close();
  consoleLogger.info({}, "The worker has stopped.");
}
