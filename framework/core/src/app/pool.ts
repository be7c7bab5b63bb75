/** The pool in which an application runs its non-async handlers, and `app.state`, which is not shared with it. @module */
import { assertUnbound, describeInstance, detachResult, keepOnLoop } from "../platforms/concurrency/ownership.js";
import { copyError, type EntryModule, type RouteTable } from "../platforms/concurrency/protocol.js";
import type { WorkerKind } from "../platforms/concurrency/options.js";
import type { HostedApp } from "../platforms/concurrency/host.js";
import type { PoolStats, TaskOwner, WorkerPool, PoolEntry } from "../platforms/concurrency/worker-pool.js";
import { LoopError, PoolTimeoutError, EntryError } from "../platforms/concurrency/errors.js";
import { resolveEntry, toModuleURL } from "../platforms/concurrency/entry.js";
import { workerHost } from "../platforms/concurrency/self.js";
import { assertOptions } from "../common/options.js";
import { hasWorkers, isStandalone } from "../common/platform.js";
import type { Request } from "../http/request.js";
import { watchClient } from "../http/request/body.js";
import type { Startable } from "./lifespan.js";
import {
  announceRoutes,
  type HandlerCall,
  HANDLER_POOL_OPTIONS,
  type HandlerPoolOptions,
  type HandlerPoolSettings,
  missingPool,
  type PooledCall,
} from "./pool-rules.js";
import { PREPARE, Response } from "../http/response/response.js";
import { messageOf } from "../common/error-codes.js";
import type { Logger } from "../common/logger.js";

function read(state: Record<string, unknown>, name: string | symbol): unknown {
  if (typeof name === "symbol" || name in state) return Reflect.get(state, name);
  throw new LoopError(
    `app.state.${name} is not set in a worker of the pool: startup hooks run on the server's loop only. Make the ` +
      "handler async, or let a dependency give it the data.",
  );
}

/** A handler's result on its way from a worker. */
type SentResult = { readonly isPromise: boolean } & (
  | { readonly form: "value"; readonly value: unknown }
  | {
      readonly form: "response";
      readonly statusCode: number;
      readonly headers: readonly (readonly [string, string])[];
      readonly body: Uint8Array;
    }
);

/**
 * Gives a result the form in which it travels, in the worker.
 *
 * @throws LoopError when it belongs to the worker's loop.
 */
async function encodeResult(route: string, pending: unknown): Promise<SentResult> {
  const isPromise = pending instanceof Promise;
  const result = await pending;
  const refuse = (path: string, what: string) =>
    `${route} is not async, so it runs in a worker of the pool, and its ${path} is ${what}, which belongs to the ` +
    "worker's loop. Make the handler async, set the route's option `pool: false`, or return data.";
  if (!(result instanceof Response)) return { isPromise, form: "value", value: detachResult(result, refuse) };
  if (result.send !== Response.prototype.send || result[PREPARE] !== Response.prototype[PREPARE]) {
    throw new LoopError(refuse("result", describeInstance(result)));
  }
  if (result.background) throw new LoopError(refuse("result.background", "a list of functions"));
  const { statusCode, headers, body } = result;
  return { isPromise, form: "response", statusCode, headers: [...headers], body };
}

/** The result itself, in the server. @param onPromise - Called for a handler that returned a promise. */
function decodeResult(sent: unknown, onPromise: () => void): unknown {
  const result = sent as SentResult;
  if (result.isPromise) onPromise();
  if (result.form === "value") return result.value;
  return new Response(result.body, { statusCode: result.statusCode, headers: result.headers });
}

/** A handler that computes for half a minute uses up the time that a proxy allows by default. */
const DEFAULT_TIMEOUT_MS = 30_000;

/** The plain handlers of one App: in the server the way to the pool, in a worker the way to the functions. */
export class HandlerPool implements HostedApp {
  /**
   * The state of an App. It stays on its loop. In a worker, where startup hooks do not run, reading a missing name throws
   * instead of returning `undefined`: a handler would otherwise continue without it.
   */
  static createState(): Record<string, unknown> {
    const plain: Record<string, unknown> = {};
    const state = workerHost() ? new Proxy(plain, { get: read }) : plain;
    keepOnLoop(state);
    return state;
  }

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

  call(route: string, args: object): unknown {
    const handler = this.#handlers.get(route);
    if (!handler) throw new Error(`The worker has no plain handler for ${route}.`);
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
    if (!this.isOn) return (args) => handler(args);
    if (this.#table !== null) {
      this.#settings.logger.warn(
        { route },
        `${route} is not async and runs on the event loop, because a startup hook registers it: hooks do not run in ` +
          "the pool's workers. Make the handler async, or register it before startup.",
      );
      return (args) => handler(args);
    }
    this.#handlers.set(route, handler);
    const use = new RouteUse(route, this.#kind, this.#settings.logger);
    return (args, request) =>
      this.#isInline
        ? this.#runInline(use, args)
        : this.#runFor(request, endsRunning, (owner) => this.#run(use, handler, args, owner));
  }

  get #isInline(): boolean {
    return this.#isTested && this.#settings.options.kind === undefined && this.#entry === null;
  }

  /** Runs a call in a test, with arguments, results and errors copied as on the way to a worker and back. */
  async #runInline(use: RouteUse, args: object): Promise<unknown> {
    this.#assertUnbound(use, args);
    const copies = structuredClone(args);
    let result: unknown;
    try {
      result = await this.call(use.route, copies);
    } catch (error) {
      throw copyError(error);
    }
    return decodeResult(structuredClone(result), () => use.adviseAsync());
  }

  #assertUnbound(use: RouteUse, args: object): void {
    for (const [name, value] of Object.entries(args) as [string, unknown][]) {
      assertUnbound(value, name, (path, what) => use.explainArgument(name, path, what));
    }
  }

  /** Runs a call for as long as its client is there. */
  async #runFor(request: Request, endsRunning: boolean, run: (owner: TaskOwner) => Promise<unknown>): Promise<unknown> {
    const left = new AbortController();
    const stop = watchClient(request, () => left.abort());
    try {
      return await run({ signal: left.signal, endsRunning });
    } finally {
      stop();
    }
  }

  async #run(use: RouteUse, handler: HandlerCall, args: object, owner: TaskOwner): Promise<unknown> {
    const pool = await this.#open();
    if (pool === null) return handler(args);
    this.#assertUnbound(use, args);
    try {
      const { value, elapsedMs } = await pool.run({ type: "route", route: use.route }, [args], owner);
      use.measure(elapsedMs);
      return decodeResult(value, () => use.adviseAsync());
    } catch (error) {
      if (error instanceof PoolTimeoutError) use.reportTimeout(this.#options.timeoutMs);
      throw error;
    }
  }

  get #options(): HandlerPoolOptions & { timeoutMs: number } {
    return { timeoutMs: DEFAULT_TIMEOUT_MS, ...this.#settings.options };
  }

  get #kind(): WorkerKind {
    return this.#settings.options.kind === "thread" ? "thread" : "process";
  }

  /** Opens the pool once; returns `null` without a module that a worker could import. */
  #open(): Promise<WorkerPool | null> {
    return (this.#pool ??= this.#create());
  }

  async #create(): Promise<WorkerPool | null> {
    this.#table = this.routes();
    const { options, logger } = this.#settings;
    if (!hasWorkers()) {
      if (options.kind !== undefined) {
        throw missingPool(options.kind);
      }
      this.#announce("run inline on this platform, which has no worker processes", "warn");
      return null;
    }
    const module = await resolveEntry(this.#entry);
    const [route = ""] = this.#handlers.keys();
    if (module === null) {
      const problem = "no module is known that a worker could import";
      if (options.kind !== undefined) throw explainEntry(route, problem);
      logger.warn(
        { route },
        `${route} is not async and runs on the event loop, because ${problem}. Make the handler async, or name the ` +
          "module that makes the App: new App({ entry: import.meta.url }).",
      );
      return null;
    }
    const found = new PoolModule(module, { title: this.title, routes: this.#table }, route);
    this.#opened = isStandalone() ? await this.#tryStandalone(found) : await this.#createPool(found);
    if (this.#opened === null) {
      this.#announce("run inline", "warn", ". This executable cannot start itself as a worker.");
      return null;
    }
    this.#announce(`run in worker ${this.#kind === "thread" ? "threads" : "processes"}`);
    return this.#opened;
  }

  async #createPool(entry: PoolModule, isLogged = () => true): Promise<WorkerPool> {
    const { logger } = this.#settings;
    const { createWorkerPool } = await import("../platforms/concurrency/pools.js");
    const onDeath = (message: string) => void (isLogged() && logger.error({}, message));
    return createWorkerPool(this.#kind, this.#options, { entry, onDeath });
  }

  /** A pool of processes that run the executable of this one; `null` if such a process does not become a worker. */
  async #tryStandalone(entry: PoolModule): Promise<WorkerPool | null> {
    if (this.#kind === "thread") return null;
    let isTried = false;
    const pool = await this.#createPool(entry, () => isTried);
    await pool.fill().catch(() => {});
    isTried = true;
    if (pool.stats.ready > 0) return pool;
    await pool.close();
    return null;
  }

  #announce(what: string, level: "info" | "warn" = "info", advice = ""): void {
    announceRoutes([...this.#handlers.keys()], what, { logger: this.#settings.logger, level, advice });
  }

  /** Lets the pool live from before the application's startup until after its shutdown. */
  around(inner: Startable): Startable {
    return {
      start: async (state, isTested = false, outer) => {
        this.#isTested = isTested;
        await this.#start();
        const stop = await inner.start(state, isTested, outer).catch(async (error: unknown) => {
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
      return this.#announce("run in worker processes when served, and inline in this test", "warn", advice);
    }
    this.#table = this.routes();
    if (this.#handlers.size === 0) return;
    try {
      await (await this.#open())?.fill();
    } catch (error) {
      await this.#stop();
      throw error;
    }
  }

  async #stop(): Promise<void> {
    const pool = this.#pool;
    this.#pool = null;
    this.#table = null;
    await (await pool?.catch(() => null))?.close();
    this.#opened = null;
  }
}

/** The most routes that a message names. */
const SHOWN = 3;

/** The module of an App, and how the App is found in it. */
class PoolModule implements PoolEntry {
  readonly module: EntryModule;
  readonly #own: RouteTable;
  readonly #route: string;

  /**
   * @param module - What workers import.
   * @param own - The App as the server has it.
   * @param route - A route with a plain handler, for messages.
   */
  constructor(module: EntryModule, own: RouteTable, route: string) {
    this.module = module;
    this.#own = own;
    this.#route = route;
  }

  find(tables: readonly RouteTable[]): number | string {
    const same = tables.flatMap((table, index) => (difference(this.#own, table) === "" ? [index] : []));
    const [first] = same;
    if (first !== undefined) return same.find((index) => tables[index]?.title === this.#own.title) ?? first;
    const made = tables.filter(({ routes }) => routes.length > 0);
    const nearest = made.find(({ title }) => title === this.#own.title) ?? made[0];
    return nearest
      ? `makes an App with other routes than the server's (${difference(this.#own, nearest)})`
      : "makes no App with routes when it is imported";
  }

  explain(problem: string, cause?: unknown): EntryError {
    const reason = cause instanceof Error ? `: ${cause.name}: ${cause.message}` : "";
    return explainEntry(this.#route, `its module ${this.module.url} ${problem}${reason}`, cause);
  }
}

/** One clear error about a problem with the module of workers, with a route that needs them and the fixes. */
function explainEntry(route: string, problem: string, cause?: unknown): EntryError {
  return new EntryError(messageOf("TSGI_UNUSABLE_ENTRY.route", route, problem), { cause });
}

/** The difference of a worker's routes from the server's; empty for equal tables. */
function difference(own: RouteTable, other: RouteTable): string {
  const missing = own.routes.filter((route) => !other.routes.includes(route));
  const besides = other.routes.filter((route) => !own.routes.includes(route));
  const parts: string[] = [];
  if (missing.length > 0) parts.push(`without ${list(missing)}`);
  if (besides.length > 0) parts.push(`with ${list(besides)}`);
  return parts.join(", ");
}

function list(routes: readonly string[]): string {
  const shown = routes.slice(0, SHOWN).join(", ");
  return routes.length > SHOWN ? `${shown} and ${routes.length - SHOWN} more` : shown;
}

/** The way to a worker and back costs 0.1 ms; a handler that takes less than ten times that is better off without. */
const WORTHWHILE_MS = 1;

/** After how many calls the average counts. */
const ENOUGH_CALLS = 10;

const PLACES: Readonly<Record<WorkerKind, string>> = { process: "another process", thread: "another thread" };

/** Log lines and errors about one route whose handler runs in the pool. */
class RouteUse {
  /** `METHOD pattern`. */
  readonly route: string;
  readonly #kind: WorkerKind;
  readonly #logger: Logger;
  #isKnownToPromise = false;
  #isAdvised = false;
  #calls = 0;
  #totalMs = 0;

  constructor(route: string, kind: WorkerKind, logger: Logger) {
    this.route = route;
    this.#kind = kind;
    this.#logger = logger;
  }

  /** Logs once that a handler returns a promise, as it does if its `async` is missing. */
  adviseAsync(): void {
    if (this.#isKnownToPromise) return;
    this.#isKnownToPromise = true;
    this.#logger.warn(
      { route: this.route },
      `${this.route} is not async, so it runs in ${PLACES[this.#kind]}, but it returned a promise. If it waits for ` +
        "I/O, declare it as `async`: it then runs on the event loop.",
    );
  }

  /** Counts a call. Says once that a handler is too short for a pool. */
  measure(elapsedMs: number): void {
    this.#calls++;
    this.#totalMs += elapsedMs;
    const averageMs = this.#totalMs / this.#calls;
    if (this.#isAdvised || this.#calls < ENOUGH_CALLS || averageMs >= WORTHWHILE_MS) return;
    this.#isAdvised = true;
    this.#logger.warn(
      { route: this.route, averageMs },
      `${this.route} takes ${averageMs.toFixed(3)} ms on average, little more than the way to the pool and back. ` +
        "Make the handler async: it then runs on the event loop.",
    );
  }

  /** Says that a call took too long. */
  reportTimeout(timeoutMs: number): void {
    this.#logger.warn(
      { route: this.route, timeoutMs },
      `${this.route} took longer than the pool's timeoutMs of ${timeoutMs} and was ended with its worker, which is replaced.`,
    );
  }

  /** The message of an argument that belongs to this loop. */
  explainArgument(name: string, path: string, what: string): string {
    const place = path === name ? `is ${what}` : `has ${what} in it (${path})`;
    return (
      `${this.route} is not async, so it runs in ${PLACES[this.#kind]}, and its parameter ` +
      `${JSON.stringify(name)} ${place}, which belongs to the server's loop. Make the handler async, set the route's ` +
      "option `pool: false`, or let the dependency return data."
    );
  }
}
