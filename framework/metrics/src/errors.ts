/**
 * Metrics: `@tsgi/metrics`.
 *
 * These errors are thrown when you import the package. See [observation.md](observation.md).
 * @module
 */
import { errorsOf } from "tsgi/internals";

const MESSAGES = {
  /** You import `@tsgi/metrics`, but its peer dependency `prom-client` is not installed. */
  TSGI_MISSING_PROM_CLIENT:
    "@tsgi/metrics requires the package prom-client, which cannot be loaded. Run: npm install prom-client",
};

/** Makes an error of this package. */
export const metricsError = errorsOf(MESSAGES);
