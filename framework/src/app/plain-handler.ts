import type { ParamSpec } from "../dependencies.js";
import { configurationError } from "../exceptions.js";
import { isAsyncFunction, ParamKind } from "../params.js";
import { assertOptions } from "../options.js";
import type { Handler, RouteOptions, RoutePoolOptions } from "../router.js";

/** What belongs to the server's loop, by its kind. */
const LOOP_KINDS: ReadonlyMap<ParamKind, string> = new Map([
  [ParamKind.REQUEST, "a Request"],
  [ParamKind.RESPONSE, "a Response"],
  [ParamKind.WEBSOCKET, "a WebSocket"],
  [ParamKind.BACKGROUND, "BackgroundTasks"],
  [ParamKind.FILE, "a File"],
]);

/** Whether a handler runs in the pool: neither async nor a generator, and not kept on the loop by its route. */
export function isPooled(handler: Handler, options: RouteOptions): boolean {
  return options.pool !== false && !isAsyncFunction(handler);
}

/** Whether a call in the pool is ended with its worker when its client has gone. */
export function endsOnDisconnect({ pool }: RouteOptions): boolean {
  return typeof pool === "object" && pool.endOnDisconnect === true;
}

/** @throws ConfigurationError for an option `pool` of a route that is neither a boolean nor an object of its options. */
export function assertRoutePool(pool: unknown): void {
  if (pool === undefined || typeof pool === "boolean") return;
  if (typeof pool === "object" && pool !== null && !Array.isArray(pool)) {
    assertOptions("`pool`", pool, ["endOnDisconnect"]);
    const { endOnDisconnect } = pool as RoutePoolOptions;
    if (endOnDisconnect === undefined || typeof endOnDisconnect === "boolean") return;
  }
  throw configurationError("TSGI_INVALID_POOL_OPTION.route", pool);
}

/**
 * Refuses what a worker cannot be given.
 *
 * @throws ConfigurationError naming the parameter.
 */
export function assertPoolable(specs: readonly ParamSpec[]): void {
  for (const { name, kind } of specs) {
    const what = LOOP_KINDS.get(kind);
    if (what === undefined) continue;
    throw configurationError("TSGI_PLAIN_HANDLER_PARAMETER", name, what);
  }
}
