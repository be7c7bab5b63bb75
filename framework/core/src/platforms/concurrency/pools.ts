/// <reference lib="esnext.disposable" preserve="true" />
/** Pools of processes and of threads. @module */
import { configurationError } from "../../common/exceptions.js";
import { assertOptions } from "../../common/options.js";
import { nodeModule } from "../../common/platform.js";
import { toModuleURL } from "./entry.js";
import { POOL_OPTIONS, type PoolOptions, type WorkerKind } from "./options.js";
import { PoolClosedError } from "./errors.js";
import { assertUnbound } from "./ownership.js";
import { workerHost } from "./self.js";
import { type PoolStats, WorkerPool, type WorkerPoolSettings } from "./worker-pool.js";

/** At 20 ms a task and two workers, the last of so many waits for 2.5 s. */
const DEFAULT_MAX_QUEUE = 256;

/** Processes of one server. */
let servers = 1;

/**
 * Declares this process one of several of a server. Each has separate pools: those without a `size` together have as
 * many workers as the machine has processors.
 */
export function shareProcessors(processes: number): void {
  servers = processes;
}

/**
 * Makes a pool of workers of a kind, which loads what that takes.
 *
 * @throws ConfigurationError in a worker: code that a module runs on import also runs in each worker, and workers that
 *   start workers never stop.
 */
export async function createWorkerPool(
  kind: WorkerKind,
  options: PoolOptions,
  settings: Pick<WorkerPoolSettings, "entry" | "onDeath">,
): Promise<WorkerPool> {
  if (workerHost()) throw configurationError("TSGI_POOL_IN_A_WORKER");
  const { availableParallelism } = nodeModule("node:os", "A pool");
  const { prepareProcesses, prepareThreads } = await import("./spawn.js");
  const prepare = kind === "process" ? prepareProcesses : prepareThreads;
  return new WorkerPool({
    ...settings,
    spawn: prepare(settings.entry?.module ?? null),
    size: options.size ?? Math.max(1, Math.floor(availableParallelism() / servers)),
    maxQueue: options.maxQueue ?? DEFAULT_MAX_QUEUE,
    timeoutMs: options.timeoutMs ?? Infinity,
  });
}

/** Workers that call exported functions of modules. */
class ModulePool {
  readonly #kind: WorkerKind;
  readonly #options: PoolOptions;
  #pool: Promise<WorkerPool> | null = null;
  #opened: WorkerPool | null = null;
  #isClosed = false;

  constructor(kind: WorkerKind, options: PoolOptions) {
    assertOptions("pool", options, POOL_OPTIONS);
    this.#kind = kind;
    this.#options = options;
  }

  /** The figures as they are now; `null` before the first task. */
  get stats(): PoolStats | null {
    return this.#opened?.stats ?? null;
  }

  /**
   * Calls an exported function in a worker. Arguments and result travel by structured clone.
   *
   * @param moduleUrl - The module's URL or absolute path: `new URL("./work.js", import.meta.url)`.
   * @param name - The name of the export.
   * @throws LoopError when an argument or the result belongs to one loop: a socket, a stream, a client, a function.
   * @throws ConfigurationError when the module is not a URL, or this is a worker itself.
   * @throws HTTPException with 503 when too many wait, with 504 past `timeoutMs`.
   * @throws Error the error of the function, with its name, message and stack.
   */
  async run(moduleUrl: string | URL, name: string, ...args: readonly unknown[]): Promise<unknown> {
    const module = toModuleURL(moduleUrl);
    for (const [index, arg] of args.entries()) {
      assertUnbound(arg, `argument ${index + 1}`, (path, what) => {
        return `The ${path} of ${name}() is ${what}, which cannot be sent to a worker. Pass data instead.`;
      });
    }
    if (this.#isClosed) throw new PoolClosedError("The pool is closed: it takes no more tasks.");
    const { value } = await (await this.#open()).run({ type: "export", module, name }, args);
    return value;
  }

  #open(): Promise<WorkerPool> {
    return (this.#pool ??= createWorkerPool(this.#kind, this.#options, { entry: null, onDeath: () => {} }).then(
      (pool) => (this.#opened = pool),
    ));
  }

  /** Waits for running tasks and ends the workers. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#pool)?.close();
  }

  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * A pool of processes that call exported functions of modules. A worker is started when there is work for it, runs one
 * task at a time, and is replaced when it ends. Workers do not keep the program alive.
 *
 * @example
 * ```ts
 * import { ProcessPool } from "tsgi/concurrency";
 *
 * await using pool = new ProcessPool({ size: 2, timeoutMs: 10_000 });
 * await pool.run(new URL("./work.js", import.meta.url), "render", { page: 1 });
 * ```
 */
export class ProcessPool extends ModulePool {
  /** @throws ConfigurationError if an option is invalid. */
  constructor(options: PoolOptions = {}) {
    super("process", options);
  }
}

/**
 * A pool of worker threads, each with a separate interpreter inside this process. They start faster and share the
 * process: a crash of native code, or memory outside the heap, affects all of them.
 *
 * @example
 * ```ts
 * import { ThreadPool } from "tsgi/concurrency";
 *
 * await using pool = new ThreadPool({ size: 2, timeoutMs: 10_000 });
 * await pool.run(new URL("./work.js", import.meta.url), "render", { page: 1 });
 * ```
 */
export class ThreadPool extends ModulePool {
  /** @throws ConfigurationError if an option is invalid. */
  constructor(options: PoolOptions = {}) {
    super("thread", options);
  }
}

let processes: ProcessPool | null = null;
let threads: ThreadPool | null = null;

/**
 * Calls an exported function in a process of a pool that the whole program shares.
 *
 * @param moduleUrl - The module's URL or absolute path.
 * @param name - The name of the export.
 * @throws Error the error of the function, with its name, message and stack.
 * @example
 * ```ts
 * import { runInProcess } from "tsgi/concurrency";
 *
 * await runInProcess(new URL("./work.js", import.meta.url), "render", { page: 1 });
 * ```
 */
export async function runInProcess(
  moduleUrl: string | URL,
  name: string,
  ...args: readonly unknown[]
): Promise<unknown> {
  return (processes ??= new ProcessPool()).run(moduleUrl, name, ...args);
}

/**
 * The same in a worker thread: the specification's sub-interpreter.
 *
 * @example
 * ```ts
 * import { runInThread } from "tsgi/concurrency";
 *
 * await runInThread(new URL("./work.js", import.meta.url), "render", { page: 1 });
 * ```
 */
export async function runInThread(
  moduleUrl: string | URL,
  name: string,
  ...args: readonly unknown[]
): Promise<unknown> {
  return (threads ??= new ThreadPool()).run(moduleUrl, name, ...args);
}
