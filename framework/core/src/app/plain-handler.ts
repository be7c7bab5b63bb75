/** Non-async handlers: which run in the pool, and which parameters they cannot have there. @module */
import type { ParamSpec } from "../parameters/dependencies/plan.js";
import { configurationError } from "../common/exceptions.js";
import { DependsMarker } from "../parameters/depends.js";
import { isAsyncFunction } from "../parameters/annotation.js";
import { ParamKind } from "../parameters/marker.js";
import type { Handler } from "../routing/entries.js";
import type { RouteOptions } from "../routing/options.js";

/** Parameters that belong to the server's loop, by kind. */
const LOOP_KINDS: ReadonlyMap<ParamKind, string> = new Map([
  [ParamKind.REQUEST, "a Request"],
  [ParamKind.RESPONSE, "a Response"],
  [ParamKind.WEBSOCKET, "a WebSocket"],
  [ParamKind.BACKGROUND, "BackgroundTasks"],
  [ParamKind.FILE, "a File"],
]);

/** Tells if a handler runs in the pool: neither async nor a generator, and not kept on the loop by its route. */
export function isPooled(handler: Handler, options: RouteOptions): boolean {
  return options.pool !== false && !isAsyncFunction(handler);
}

/** Tells if a call in the pool is ended with its worker when its client has gone. */
export function endsOnDisconnect({ pool }: RouteOptions): boolean {
  return typeof pool === "object" && pool.endOnDisconnect === true;
}

/**
 * Refuses what a worker cannot be given.
 *
 * @throws ConfigurationError naming the parameter.
 */
export function assertPoolable(specs: readonly ParamSpec[]): void {
  for (const { name, kind, marker } of specs) {
    const isApplication = marker instanceof DependsMarker && marker.scope === "app";
    const what = isApplication ? 'a dependency of scope "app"' : LOOP_KINDS.get(kind);
    if (what === undefined) continue;
    throw configurationError("TSGI_PLAIN_HANDLER_PARAMETER", name, what);
  }
}
