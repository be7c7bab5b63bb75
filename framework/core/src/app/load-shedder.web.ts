/** `load-shedder.ts` in bundles for the web, which cannot measure the delay of the event loop. @module */
import { configurationError } from "../common/exceptions.js";
import { ANYTHING, type OptionRules } from "../common/options.js";
import type { ShedOptions } from "./load-shedder.js";

/** Rejects requests on Node.js, Bun and Deno. */
export class LoadShedder {
  /** The names of the options: the App throws for every value. */
  static readonly OPTIONS: OptionRules<ShedOptions> = {
    eventLoopDelayMs: ANYTHING,
    retryAfterSeconds: ANYTHING,
    exempt: ANYTHING,
  };

  /** @throws ConfigurationError always. */
  constructor() {
    throw configurationError("TSGI_MISSING_PLATFORM_MODULE", "new App({ shed })", "node:perf_hooks");
  }
}
