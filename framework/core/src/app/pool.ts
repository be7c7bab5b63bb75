/** The pool in which an application runs its non-async handlers, and `app.state`, which is not shared with it. @module */
import { toModuleURL } from "../platforms/concurrency/entry.js";
import { LoopError } from "../platforms/concurrency/errors.js";
import { type HostedApp, keepOnLoop } from "../platforms/concurrency/host.js";
import { workerHost } from "../platforms/concurrency/self.js";
import type { PoolStats, WorkerPool } from "../platforms/concurrency/worker-pool.js";
import type { Logger } from "../common/logger.js";
import { assertOptions } from "../common/options.js";
import { unlessAborted } from "../common/promises.js";
import type { Request } from "../http/request.js";
import { watchClient } from "../http/request/body.js";
import type { Startable } from "./lifespan.js";
import {
  announceRoutes,
  type HandlerCall,
  HANDLER_POOL_OPTIONS,
  type HandlerPool,
  type HandlerPoolSettings,
  isEager,
  type PooledCall,
} from "./pool-rules.js";
import type { PooledRoute } from "./pool-workers.js";

type PoolWorkers = typeof import("./pool-workers.js"); // oxlint-disable-line typescript/consistent-type-imports

let workers: PoolWorkers | null = null;

const ignore = (): void => {};
const SILENT: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** Most applications have no non-async handler. A second `import()` of a module still takes 3 µs (Node 20). */
async function loadWorkers(): Promise<PoolWorkers> {
  return (workers ??= await import("./pool-workers.js"));
}

function read(state: Record<string, unknown>, name: string | symbol): unknown {
  if (typeof name === "symbol" || name in state) return Reflect.get(state, name);
  throw new LoopError(
    `app.state.${name} is not set in a worker of the pool: startup hooks run on the server's loop only. Make the ` +
      "handler async, or let a dependency give it the data.",
  );
}

/**
 * The state of an App. It stays on its loop. In a worker, where startup hooks do not run, reading a missing name throws
 * instead of returning `undefined`: a handler would otherwise continue without it.
 */
export function createState(): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  const state = workerHost() ? new Proxy(plain, { get: read }) : plain;
  keepOnLoop(state);
  return state;
}

/** Calls `run` with a signal that aborts when the client of a request disconnects. */
async function whileConnected(request: Request, run: (signal: AbortSignal) => Promise<unknown>): Promise<unknown> {
  const left = new AbortController();
  const stop = watchClient(request, () => left.abort());
  try {
    return await run(left.signal);
  } finally {
    stop();
  }
}

/** The plain handlers of one App: in the server the way to the pool, in a worker the way to the functions. */
export class WorkerHandlerPool implements HandlerPool, HostedApp {
  readonly title: string;
  readonly #settings: HandlerPoolSettings;
  readonly #entry: string | null;
  readonly #handlers = new Map<string, HandlerCall>();
  #pool: Promise<WorkerPool | null> | null = null;
  #opened: WorkerPool | null = null;
  /** The routes when the pool was opened: those that a startup hook adds are in no worker. */
  #table: readonly string[] | null = null;
  #isTested = false;

  /** @throws ConfigurationError that identifies the invalid option. */
  constructor(settings: HandlerPoolSettings) {
    assertOptions("pool", settings.options, HANDLER_POOL_OPTIONS);
    this.#entry = settings.entry === undefined ? null : toModuleURL(settings.entry);
    this.title = settings.title;
    this.#settings = settings;
    workerHost()?.register(this);
  }

  /** `true` where plain handlers leave the loop while the App is served. */
  get isOn(): boolean {
    return this.#settings.options.kind !== "inline";
  }

  /** The figures as they are now; `null` without a pool. */
  get stats(): PoolStats | null {
    return this.#opened?.stats ?? null;
  }

  routes(): readonly string[] {
    return this.#settings.routes();
  }

  async call(route: string, args: object): Promise<unknown> {
    const handler = this.#handlers.get(route);
    if (!handler) throw new Error(`The worker has no plain handler for ${route}.`);
    const { encodeResult } = await loadWorkers();
    return encodeResult(route, handler(args));
  }

  /**
   * Takes in a plain handler.
   *
   * @param route - `METHOD pattern`.
   * @param endsRunning - Whether a call with a disconnected client is terminated with its worker.
   * @returns A function that calls it in the right place.
   */
  adopt(route: string, handler: HandlerCall, endsRunning: boolean): PooledCall {
    if (!this.isOn) return handler;
    if (this.#table !== null) {
      this.#settings.logger.warn(
        { route },
        `${route} is not async and runs on the event loop, because a startup hook registers it: hooks do not run in ` +
          "the pool's workers. Make the handler async, or register it before startup.",
      );
      return handler;
    }
    this.#handlers.set(route, handler);
    let pooled: PooledRoute | null = null;
    return async (args, request) => {
      const { PooledRoute } = await loadWorkers();
      const calls = (pooled ??= new PooledRoute(route, handler, this.#settings));
      if (this.#isInline) return calls.runInline(args);
      return whileConnected(request, async (signal) => {
        const pool = await this.#open();
        return pool === null ? handler(args) : calls.run(pool, args, { signal, endsRunning });
      });
    };
  }

  get #isInline(): boolean {
    return this.#isTested && this.#settings.options.kind === undefined && this.#entry === null;
  }

  /** Opens the pool once; `null` without a module that a worker could import. */
  #open(): Promise<WorkerPool | null> {
    return (this.#pool ??= this.#create());
  }

  async #create(): Promise<WorkerPool | null> {
    this.#table = this.routes();
    return (this.#opened = await this.#openWith(this.#settings));
  }

  async #openWith(settings: HandlerPoolSettings): Promise<WorkerPool | null> {
    const { openPool } = await loadWorkers();
    const app = { title: this.title, routes: this.routes(), entry: this.#entry, pooled: [...this.#handlers.keys()] };
    return openPool(app, settings);
  }

  /** Lets the pool live from before the application's startup until after its shutdown. */
  around(inner: Startable): Startable {
    return {
      start: async (state, options = {}) => {
        this.#isTested = options.isTested ?? false;
        const starting = unlessAborted(this.#start(), options.signal ?? null).then(() => inner.start(state, options));
        const stop = await starting.catch(async (error: unknown) => {
          await this.#stop();
          throw error;
        });
        return async () => {
          try {
            await stop();
          } finally {
            await this.#stop();
          }
        };
      },
    };
  }

  async #start(): Promise<void> {
    if (!this.isOn) return;
    if (this.#isInline) {
      const advice = ". With new App({ entry: import.meta.url }) plain handlers run in workers here too.";
      return this.#warnInline("run in worker processes when served, and inline in this test", advice);
    }
    this.#table = this.routes();
    if (this.#handlers.size === 0) return;
    if (isEager(this.#settings.options)) return this.#fill();
    await this.#open();
  }

  /** Starts all workers. @throws EntryError for a module that cannot be used. */
  async #fill(): Promise<void> {
    try {
      await (await this.#open())?.fill();
    } catch (error) {
      await this.#stop();
      throw error;
    }
  }

  /** Starts workers, and ends them, without log lines. @throws EntryError for a module that cannot be used. */
  async try(): Promise<void> {
    if (!this.isOn || this.#handlers.size === 0) return;
    const pool = await this.#openWith({ ...this.#settings, logger: SILENT });
    try {
      await pool?.fill();
    } finally {
      await pool?.close();
    }
  }

  #warnInline(what: string, advice = ""): void {
    announceRoutes([...this.#handlers.keys()], what, { logger: this.#settings.logger, level: "warn", advice });
  }

  async #stop(): Promise<void> {
    const pool = this.#pool;
    this.#pool = null;
    this.#table = null;
    await (await pool?.catch(() => null))?.close();
    this.#opened = null;
  }
}
