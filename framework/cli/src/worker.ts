/** `tsgi worker`: runs jobs until SIGTERM or SIGINT. @module */
import type { JobsControl, Worker } from "@tsgi/jobs";
import { closeOnSignals, consoleLogger, NEVER } from "tsgi/internals";
import { ConfigurationError } from "tsgi";
import { CommandError, EXIT } from "./errors.js";
import { findJobs } from "./find-jobs.js";

/** The flags of `tsgi worker`, as commander reads them. */
export interface WorkerFlags {
  queues?: string[];
  concurrency?: number;
  shutdownTimeout: number;
}

/** Milliseconds at most that a worker that is told to stop has to complete its start. */
const START_MS = 1000;

/** Share of the shutdown timeout spent so. */
const START_SHARE = 0.1;

/** Runs jobs. A signal stops the worker, with all its jobs done or given back, and ends the process. */
export async function work(module: string | undefined, flags: WorkerFlags): Promise<never> {
  const leave = closeOnSignals({ close: () => Promise.resolve(), running: () => [] });
  const jobs = await findJobs(module);
  const { queues, concurrency, shutdownTimeout } = flags;
  const options = {
    ...(queues === undefined ? {} : { queues }),
    ...(concurrency === undefined ? {} : { concurrency }),
    shutdownTimeoutMs: shutdownTimeout,
  };
  const abandoned = new AbortController();
  const starting = jobs.work(options, abandoned.signal);
  let stopping = false;
  const close = () => {
    stopping = true;
    const timer = setTimeout(() => abandoned.abort(), Math.min(START_MS, shutdownTimeout * START_SHARE));
    return stop(jobs, starting, abandoned.signal).finally(() => clearTimeout(timer));
  };
  closeOnSignals({ close, running: () => ["jobs"] });
  leave();
  try {
    await starting;
  } catch (error) {
    if (stopping) return NEVER;
    const isUsage = error instanceof ConfigurationError && error.code === "TSGI_UNKNOWN_QUEUE";
    throw isUsage ? new CommandError(error.code, error.message, EXIT.usage) : error;
  }
  if (!stopping) consoleLogger.info({}, "The worker takes jobs.");
  return NEVER;
}

async function stop(jobs: JobsControl, starting: Promise<Worker>, abandoned: AbortSignal): Promise<void> {
  const worker = await starting.catch((error: unknown) => {
    if (!abandoned.aborted || error !== abandoned.reason) throw error;
    return null;
  });
  await worker?.stop();
  await jobs.close();
  consoleLogger.info({}, "The worker has stopped.");
}
