/**
 * Observation.
 *
 * Thrown when the package is imported. See [observation.md](observation.md).
 * @module
 */

export const OBSERVATION = {
  /** `@tsgi/otel` is imported, and its peer dependency `@opentelemetry/api` is not installed. */
  TSGI_MISSING_OPENTELEMETRY:
    "@tsgi/otel requires the package @opentelemetry/api, which cannot be loaded. Run: npm install @opentelemetry/api",
  /** `@tsgi/metrics` is imported, and its peer dependency `prom-client` is not installed. */
  TSGI_MISSING_PROM_CLIENT:
    "@tsgi/metrics requires the package prom-client, which cannot be loaded. Run: npm install prom-client",
};
