/** The workers of an application's pool, and the calls of its non-async handlers in them. Loaded with the first call. @module */
import { assertUnbound, describeInstance, detachResult } from "../platforms/concurrency/ownership.js";
import { copyError, type EntryModule, type RouteTable } from "../platforms/concurrency/protocol.js";
import type { WorkerKind } from "../platforms/concurrency/options.js";
import type { PoolEntry, TaskOwner, WorkerPool } from "../platforms/concurrency/worker-pool.js";
import { createWorkerPool } from "../platforms/concurrency/pools.js";
import { LoopError, PoolTimeoutError, EntryError } from "../platforms/concurrency/errors.js";
import { resolveEntry } from "../platforms/concurrency/entry.js";
import { isStandalone } from "../common/platform.js";
import { announceRoutes, type HandlerCall, type HandlerPoolOptions, type HandlerPoolSettings } from "./pool-rules.js";
import { PREPARE, Response } from "../http/response/response.js";
import { messageOf } from "../common/error-codes.js";
import { foreignError } from "../common/exceptions.js";
import { errorText } from "../common/logger.js";
import type { Logger } from "../common/logger.js";

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
export async function encodeResult(route: string, pending: unknown): Promise<SentResult> {
  const isPromise = pending instanceof Promise;
  const result = await pending;
  const refuse = (path: string, what: string) =>
    `${route} is not async, so it runs in a worker of the pool, and its ${path} is ${what}, which belongs to the ` +
    "worker's loop. Make the handler async, set the route's option `pool: false`, or return data.";
  const error = foreignError(result);
  if (error !== null) throw error;
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

function kindOf({ kind }: HandlerPoolOptions): WorkerKind {
  return kind === "thread" ? "thread" : "process";
}

/** An application whose pool opens. */
interface PooledApp extends RouteTable {
  /** The module that it names. */
  readonly entry: string | null;
  /** Its routes with non-async handlers. */
  readonly pooled: readonly string[];
}

/** Opens the pool of an application; `null` without a module that a worker could import. */
export async function openPool(app: PooledApp, settings: HandlerPoolSettings): Promise<WorkerPool | null> {
  const { pooled } = app;
  const { options, logger } = settings;
  const module = await resolveEntry(app.entry);
  const [route = ""] = pooled;
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
  const found = new PoolModule(module, app, route);
  const pool = isStandalone() ? await tryStandalone(settings, found) : await createPool(settings, found);
  if (pool === null) {
    const advice = ". This executable cannot start itself as a worker.";
    announceRoutes(pooled, "run inline", { logger, level: "warn", advice });
  } else {
    const places = kindOf(options) === "thread" ? "threads" : "processes";
    announceRoutes(pooled, `run in worker ${places}`, { logger, level: "info", advice: "" });
  }
  return pool;
}

function createPool(settings: HandlerPoolSettings, entry: PoolModule, isLogged = () => true): Promise<WorkerPool> {
  const { options, logger } = settings;
  const onDeath = (message: string) => void (isLogged() && logger.error({}, message));
  return createWorkerPool(kindOf(options), { timeoutMs: DEFAULT_TIMEOUT_MS, ...options }, { entry, onDeath });
}

/** A pool of processes that run the executable of this one; `null` if such a process does not become a worker. */
async function tryStandalone(settings: HandlerPoolSettings, entry: PoolModule): Promise<WorkerPool | null> {
  if (kindOf(settings.options) === "thread") return null;
  let isTried = false;
  const pool = await createPool(settings, entry, () => isTried);
  await pool.fill().catch(() => {});
  isTried = true;
  if (pool.stats.ready > 0) return pool;
  await pool.close();
  return null;
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
    const reason = cause instanceof Error ? `: ${errorText(cause)}` : "";
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

/** The calls of one route's handler in the pool, and the log lines and errors about them. */
export class PooledRoute {
  /** `METHOD pattern`. */
  readonly route: string;
  readonly #handler: HandlerCall;
  readonly #options: HandlerPoolOptions;
  readonly #logger: Logger;
  #isKnownToPromise = false;
  #isAdvised = false;
  #calls = 0;
  #totalMs = 0;

  constructor(route: string, handler: HandlerCall, { options, logger }: HandlerPoolSettings) {
    this.route = route;
    this.#handler = handler;
    this.#options = options;
    this.#logger = logger;
  }

  /** Runs a call in a test, with arguments, results and errors copied as on the way to a worker and back. */
  async runInline(args: object): Promise<unknown> {
    this.#assertUnbound(args);
    const copies = structuredClone(args);
    let result: unknown;
    try {
      result = await encodeResult(this.route, this.#handler(copies));
    } catch (error) {
      throw copyError(error);
    }
    return decodeResult(structuredClone(result), () => this.#adviseAsync());
  }

  /** Runs a call in a worker, for as long as its client is there. */
  async run(pool: WorkerPool, args: object, owner: TaskOwner): Promise<unknown> {
    this.#assertUnbound(args);
    try {
      const { value, elapsedMs } = await pool.run({ type: "route", route: this.route }, [args], owner);
      this.#measure(elapsedMs);
      return decodeResult(value, () => this.#adviseAsync());
    } catch (error) {
      if (error instanceof PoolTimeoutError) this.#reportTimeout();
      throw error;
    }
  }

  #assertUnbound(args: object): void {
    for (const [name, value] of Object.entries(args) as [string, unknown][]) {
      assertUnbound(value, name, (path, what) => this.#explainArgument(name, path, what));
    }
  }

  /** Logs once that a handler returns a promise, as it does if its `async` is missing. */
  #adviseAsync(): void {
    if (this.#isKnownToPromise) return;
    this.#isKnownToPromise = true;
    this.#logger.warn(
      { route: this.route },
      `${this.route} is not async, so it runs in ${PLACES[kindOf(this.#options)]}, but it returned a promise. If it waits for ` +
        "I/O, write `async`: it then runs on the event loop.",
    );
  }

  /** Counts a call. Says once that a handler is too short for a pool. */
  #measure(elapsedMs: number): void {
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
  #reportTimeout(): void {
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = this.#options;
    this.#logger.warn(
      { route: this.route, timeoutMs },
      `${this.route} took longer than the pool's timeoutMs of ${timeoutMs} and was ended with its worker, which is replaced.`,
    );
  }

  /** The message of an argument that belongs to this loop. */
  #explainArgument(name: string, path: string, what: string): string {
    const place = path === name ? `is ${what}` : `has ${what} in it (${path})`;
    return (
      `${this.route} is not async, so it runs in ${PLACES[kindOf(this.#options)]}, and its parameter ` +
      `${JSON.stringify(name)} ${place}, which belongs to the server's loop. Make the handler async, set the route's ` +
      "option `pool: false`, or let the dependency return data."
    );
  }
}
