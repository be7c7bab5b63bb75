/** `tsgi/concurrency`: the loop, and pools of processes and threads. @module */
export {
  EntryError,
  installLoop,
  LoopError,
  loopName,
  type LoopName,
  PoolClosedError,
  PoolFullError,
  type PoolOptions,
  type PoolStats,
  PoolTimeoutError,
  PoolUnavailableError,
  ProcessPool,
  runInProcess,
  runInThread,
  ThreadPool,
  WorkerDiedError,
} from "../concurrency.js";
