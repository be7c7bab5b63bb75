/** The option `shed` of an App. @module */
import { LIST, type OptionRules, whole } from "../common/options.js";
import { MAX_TIMER_MS } from "../common/promises.js";
import type { ASGIApp } from "../protocol/asgi.js";
import type { Startable } from "./lifespan.js";

/** When an App rejects requests because it has too much to do. */
export interface ShedOptions {
  /**
   * Milliseconds that the event loop may be late. If it is later, requests get a 503 until it has caught up. Timers are
   * precise to a few milliseconds, so values below 20 also reject requests of a healthy process.
   */
  eventLoopDelayMs: number;
  /** Seconds in `Retry-After`, after which the client may try again. Defaults to 1. */
  retryAfterSeconds?: number;
  /** Paths of routes that are always served, such as the path of the liveness probe. Empty by default. */
  exempt?: readonly string[];
}

/** The rules of the option. */
export const SHED_OPTIONS: OptionRules<ShedOptions> = {
  eventLoopDelayMs: whole(1, MAX_TIMER_MS),
  retryAfterSeconds: whole(0),
  exempt: LIST,
};

/** Rejects requests while there is too much to do. */
export interface LoadShedder {
  /** Measures while the application runs, even if several servers start it. */
  around(inner: Startable): Startable;
  /** The outermost middleware of the App: a rejected request costs as little as possible. */
  readonly middleware: (app: ASGIApp) => ASGIApp;
}
