/** `load-shedder.ts` in bundles for the web, which cannot measure the delay of the event loop. @module */
import { configurationError } from "../common/exceptions.js";
import { ANYTHING, type OptionRules } from "../common/options.js";
import type { ShedOptions } from "./load-shedder.js";

function missing(): Error {
  return configurationError("TSGI_MISSING_PLATFORM_MODULE", "new App({ shed })", "node:perf_hooks");
}

/** The names of the options: the App throws for every value. */
export const SHED_OPTIONS: OptionRules<ShedOptions> = {
  eventLoopDelayMs: ANYTHING,
  retryAfterSeconds: ANYTHING,
  exempt: ANYTHING,
};

/** The delay of the event loop, which this platform does not show. */
export class LoopDelay {
  /** @throws ConfigurationError always. */
  constructor() {
    throw missing();
  }
}

/** Rejects requests on Node.js, Bun and Deno. */
export class LoadShedder {
  /** @throws ConfigurationError always. */
  constructor() {
    throw missing();
  }
}
