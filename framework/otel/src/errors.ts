/**
 * Traces: `@tsgi/otel`.
 *
 * These errors are thrown when you import the package. See [observation.md](observation.md).
 * @module
 */
import { errorsOf } from "tsgi/internals";

const MESSAGES = {
  /** You import `@tsgi/otel`, but its peer dependency `@opentelemetry/api` is not installed. */
  TSGI_MISSING_OPENTELEMETRY:
    "@tsgi/otel requires the package @opentelemetry/api, which cannot be loaded. Run: npm install @opentelemetry/api",
};

/** Makes an error of this package. */
export const otelError = errorsOf(MESSAGES);
