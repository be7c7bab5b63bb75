/** `tsgi/concurrency`: the loop, and pools of processes and threads. @module */
export { type Caller, Limiter, type LimiterOptions } from "./limiter.js";
export {
  EntryError,
  LoopError,
  PoolClosedError,
  PoolFullError,
  PoolTimeoutError,
  PoolUnavailableError,
  WorkerDiedError,
} from "./errors.js";
export { installLoop, loopName, type LoopName } from "./loop.js";
export { type PoolOptions } from "./options.js";
export { ProcessPool, runInProcess, runInThread, ThreadPool } from "./pools.js";
export { type PoolStats } from "./worker-pool.js";
