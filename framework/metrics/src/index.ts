/** `@tsgi/metrics`: figures of requests for Prometheus. @module */
export { type MetricsRouterOptions, type Prometheus, prometheus, type PrometheusOptions } from "./prometheus.js";
