/** The rules of handlers that run in a pool, on every platform. @module */
import { POOL_OPTIONS, type PoolOptions, type WorkerKind } from "../platforms/concurrency/options.js";
import type { PoolStats } from "../platforms/concurrency/worker-pool.js";
import { configurationError } from "../common/exceptions.js";
import type { Logger } from "../common/logger.js";
import { FLAG, oneOf, type OptionRules } from "../common/options.js";
import { isFirstProcess } from "../common/platform.js";
import type { Request } from "../http/request.js";
import type { ParamSpec } from "../parameters/dependencies/plan.js";
import { DependsMarker, isTransactional } from "../parameters/depends.js";
import type { Startable } from "./lifespan.js";
import { isAsyncFunction } from "../parameters/annotation.js";
import { ParamKind } from "../parameters/marker.js";
import type { RouteHandler } from "../routing/entries.js";
import type { RouteOptions } from "../routing/options.js";

/** Parameters that belong to the server's loop, by kind. */
const LOOP_KINDS: ReadonlyMap<ParamKind, string> = new Map([
  [ParamKind.REQUEST, "a Request"],
  [ParamKind.RESPONSE, "a Response"],
  [ParamKind.WEBSOCKET, "a WebSocket"],
  [ParamKind.BACKGROUND, "BackgroundTasks"],
  [ParamKind.FILE, "a File"],
  [ParamKind.SIGNAL, "an AbortSignal"],
]);

/** Tells if a handler runs in the pool: neither async nor a generator, and not kept on the loop by its route. */
export function isPooled(handler: RouteHandler, options: RouteOptions): boolean {
  return options.pool !== false && !isAsyncFunction(handler);
}

/** Tells if a call in the pool is terminated with its worker when its client disconnects. */
export function endsOnDisconnect({ pool }: RouteOptions): boolean {
  return typeof pool === "object" && pool.endOnDisconnect === true;
}

function loopDependency({ scope, callable }: DependsMarker): string | undefined {
  if (scope === "app") return 'a dependency of scope "app"';
  return isTransactional(callable) ? "a transaction, or another transactional dependency" : undefined;
}

/**
 * Rejects parameters that a worker cannot receive.
 *
 * @throws ConfigurationError naming the parameter.
 */
export function assertPoolable(specs: readonly ParamSpec[]): void {
  for (const { name, kind, marker } of specs) {
    const what = marker instanceof DependsMarker ? loopDependency(marker) : LOOP_KINDS.get(kind);
    if (what === undefined) continue;
    throw configurationError("TSGI_PLAIN_HANDLER_PARAMETER", name, what);
  }
}

/** The kind and the size of the pool of plain handlers. */
export interface HandlerPoolOptions extends PoolOptions {
  /**
   * The kind of worker: processes (the default), threads of this process, or `"inline"`: on the event loop itself,
   * which is then blocked.
   */
  kind?: WorkerKind | "inline";
  /**
   * `true` to start all workers before the port opens: then an `entry` that cannot work is an error at start instead of a
   * 500, and the first requests do not wait for a worker. By default the first requests of plain handlers start workers,
   * as many as wait. `tsgi dev` always starts them before.
   */
  eager?: boolean;
}

let isEagerByDefault = false;

/** Lets each App in this process start its workers before its port opens, as a command for developers does. */
export function startPoolsEagerly(): void {
  isEagerByDefault = true;
}

/** Tells if a pool starts its workers before the first call. */
export function isEager({ eager = isEagerByDefault }: HandlerPoolOptions): boolean {
  return eager;
}

/** The settings of an App's pool. */
export interface HandlerPoolSettings {
  readonly options: HandlerPoolOptions;
  /** The module that makes the App. */
  readonly entry: string | URL | undefined;
  readonly logger: Logger;
  readonly title: string;
  /** Each route as `METHOD pattern`. */
  readonly routes: () => readonly string[];
}

/** Calls a handler with its arguments. */
export type HandlerCall = (args: object) => unknown;

/** The same where its client may leave meanwhile. */
export type PooledCall = (args: object, request: Request) => unknown;

/** The plain handlers of one App, and the place in which they are called. */
export interface HandlerPool {
  /** `true` where plain handlers leave the loop while the App is served. */
  readonly isOn: boolean;
  /** The figures as they are now; `null` without a pool. */
  readonly stats: PoolStats | null;
  /**
   * Takes in a plain handler.
   *
   * @param route - `METHOD pattern`.
   * @param endsRunning - Whether a call with a disconnected client is terminated with its worker.
   * @returns A function that calls it in the right place.
   */
  adopt(route: string, handler: HandlerCall, endsRunning: boolean): PooledCall;
  /** Lets the pool live from before the application's startup until after its shutdown. */
  around(inner: Startable): Startable;
  /** Starts workers, and ends them, without log lines. @throws EntryError for a module that cannot be used. */
  try(): Promise<void>;
}

/** The rules of the option `pool`. */
export const HANDLER_POOL_OPTIONS: OptionRules<HandlerPoolOptions> = {
  ...POOL_OPTIONS,
  kind: oneOf("process", "thread", "inline"),
  eager: FLAG,
};

const MODULES = { process: "node:child_process", thread: "node:worker_threads" } as const;

/** Logs which routes run elsewhere, and why. If several processes serve, only the first one logs it. */
export function announceRoutes(
  routes: readonly string[],
  what: string,
  { logger, level, advice }: { readonly logger: Logger; readonly level: "info" | "warn"; readonly advice: string },
): void {
  if (!isFirstProcess() || routes.length === 0) return;
  const [subject, why] =
    routes.length === 1
      ? [`1 route ${what.replace("run", "runs")}`, "its handler is not async"]
      : [`${routes.length} routes ${what}`, "their handlers are not async"];
  logger[level]({ routes }, `${subject}, as ${why}: ${routes.join(", ")}${advice}`);
}

/** The error for a kind of pool that the platform cannot have. */
export function missingPool(kind: string): Error {
  return configurationError(
    "TSGI_MISSING_PLATFORM_MODULE",
    `pool: { kind: "${kind}" }`,
    MODULES[kind === "thread" ? "thread" : "process"],
  );
}
