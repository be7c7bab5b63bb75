/** `pool.ts` in bundles for the web, which have no processes and threads: non-async handlers run inline. @module */
import { assertOptions } from "../common/options.js";
import type { Startable } from "./lifespan.js";
import type { HandlerPool as NodePool } from "./pool.js";
import {
  announceRoutes,
  type HandlerCall,
  HANDLER_POOL_OPTIONS,
  type HandlerPoolSettings,
  missingPool,
  type PooledCall,
} from "./pool-rules.js";

/** Calls the non-async handlers of an App on its event loop. */
export class HandlerPool implements Pick<NodePool, "isOn" | "stats" | "adopt" | "around"> {
  /** The state of an App. */
  static createState(): Record<string, unknown> {
    return {};
  }

  readonly #settings: HandlerPoolSettings;
  readonly #routes: string[] = [];

  /** @throws ConfigurationError if an option is invalid. */
  constructor(settings: HandlerPoolSettings) {
    assertOptions("pool", settings.options, HANDLER_POOL_OPTIONS);
    this.#settings = settings;
  }

  /** `true` if handlers are compiled as on Node, so that the same parameters are allowed. */
  get isOn(): boolean {
    return this.#settings.options.kind !== "inline";
  }

  get stats(): null {
    return null;
  }

  /** Takes a non-async handler. @param route - `METHOD pattern`. */
  adopt(route: string, handler: HandlerCall): PooledCall {
    this.#routes.push(route);
    return (args) => handler(args);
  }

  /** Logs once, at startup, that handlers run inline. */
  around(inner: Startable): Startable {
    return {
      start: async (...args) => {
        const { options, logger } = this.#settings;
        if (this.isOn && options.kind !== undefined && this.#routes.length > 0) throw missingPool(options.kind);
        const what = "run inline on this platform, which has no worker processes";
        if (this.isOn) announceRoutes(this.#routes, what, { logger, level: "warn", advice: "" });
        return inner.start(...args);
      },
    };
  }
}
