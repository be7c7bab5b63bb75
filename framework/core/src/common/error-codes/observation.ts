/**
 * Observation.
 *
 * Thrown where the entry point is imported. See [observation.md](observation.md).
 * @module
 */

export const OBSERVATION = {
  /** `@tsgi/otel` is imported, and the package that it stands on is not installed. */
  TSGI_MISSING_OPENTELEMETRY:
    "@tsgi/otel stands on the package @opentelemetry/api, which cannot be loaded. Run: npm install @opentelemetry/api",
  /** `@tsgi/metrics` is imported, and the package that it stands on is not installed. */
  TSGI_MISSING_PROM_CLIENT:
    "@tsgi/metrics stands on the package prom-client, which cannot be loaded. Run: npm install prom-client",
};
