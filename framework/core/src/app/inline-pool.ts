/** The handlers of an App on a platform without processes and threads: all run on the event loop. @module */
import { assertOptions } from "../common/options.js";
import type { Startable } from "./lifespan.js";
import {
  announceRoutes,
  type HandlerCall,
  HANDLER_POOL_OPTIONS,
  type HandlerPool,
  type HandlerPoolSettings,
  missingPool,
  type PooledCall,
} from "./pool-rules.js";

/** Calls the non-async handlers of an App on its event loop. */
export class InlineHandlerPool implements HandlerPool {
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

  adopt(route: string, handler: HandlerCall): PooledCall {
    this.#routes.push(route);
    return (args) => handler(args);
  }

  async try(): Promise<void> {}

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
