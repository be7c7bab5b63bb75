/** The event loop, and the pools of processes and threads beside it. @module */
export { type CarriedContext, type ContextCarrier, setContextCarrier } from "./concurrency/carrier.js";
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
export type { HostedApp, WorkerHost } from "./concurrency/host.js";
export {
  findLoopPackage,
  installLoop,
  loopName,
  type LoopName,
  type LoopPackage,
  useLoopPackage,
} from "./concurrency/loop.js";
export { type Caller, Limiter, type LimiterOptions } from "./concurrency/limiter.js";
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
export { copyError, type EntryModule, type RouteTable } from "./concurrency/protocol.js";
export { workerHost } from "./concurrency/self.js";
export type { PoolEntry, PoolStats, TaskOwner, WorkerPool } from "./concurrency/worker-pool.js";
