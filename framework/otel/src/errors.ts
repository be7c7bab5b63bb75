/**
 * Traces: `@tsgi/otel`.
 *
 * Thrown when the package is imported. See [observation.md](observation.md).
 * @module
 */
import { errorsOf } from "tsgi/internals";

const MESSAGES = {
  /** `@tsgi/otel` is imported, and its peer dependency `@opentelemetry/api` is not installed. */
  TSGI_MISSING_OPENTELEMETRY:
    "@tsgi/otel requires the package @opentelemetry/api, which cannot be loaded. Run: npm install @opentelemetry/api",
};

/** Makes an error of this package. */
export const otelError = errorsOf(MESSAGES);
