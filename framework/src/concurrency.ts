/** What runs beside the event loop, and the loop itself. @module */
export { resolveEntry, setEntry, toModuleURL } from "./concurrency/entry.js";
export {
  EntryError,
  LoopError,
  PoolClosedError,
  PoolFullError,
  PoolTimeoutError,
  PoolUnavailableError,
  WorkerDiedError,
} from "./concurrency/errors.js";
export { type HostedApp, type WorkerHost, workerHost } from "./concurrency/host.js";
export { installLoop, loopName, type LoopName } from "./concurrency/loop.js";
export { findLoopPackage, type LoopPackage, useLoopPackage } from "./concurrency/loop-package.js";
export { assertUnbound, describeInstance, detachResult, keepOnLoop } from "./concurrency/ownership.js";
export {
  POOL_OPTIONS,
  createWorkerPool,
  type PoolOptions,
  ProcessPool,
  runInProcess,
  runInThread,
  shareProcessors,
  ThreadPool,
  type WorkerKind,
} from "./concurrency/pools.js";
export type { EntryModule, RouteTable } from "./concurrency/protocol.js";
export type { PoolEntry, PoolStats, TaskOwner, WorkerPool } from "./concurrency/worker-pool.js";
