/**
 * Metrics: `@tsgi/metrics`.
 *
 * Thrown when the package is imported. See [observation.md](observation.md).
 * @module
 */
import { errorsOf } from "tsgi/internals";

const MESSAGES = {
  /** `@tsgi/metrics` is imported, and its peer dependency `prom-client` is not installed. */
  TSGI_MISSING_PROM_CLIENT:
    "@tsgi/metrics requires the package prom-client, which cannot be loaded. Run: npm install prom-client",
};

/** Makes an error of this package. */
export const metricsError = errorsOf(MESSAGES);
