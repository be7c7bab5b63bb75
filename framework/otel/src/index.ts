/** `@tsgi/otel`: traces and metrics of requests by OpenTelemetry. @module */
export { openTelemetry, type OpenTelemetryOptions } from "./open-telemetry.js";
export { startTracing, type StartTracingOptions, type Tracing } from "./start-tracing.js";
