import { startTracing } from "@tsgi/otel";

import { log } from "../../logging.js";

const started = await startTracing({ logger: log, steps: true });

/** Sends traces to the collector at `OTEL_EXPORTER_OTLP_ENDPOINT`. Its id is available to instrumentations after it. */
export const tracing = {
  instrumentation: started === null ? [] : [started.instrumentation],
  shutdown: async () => started?.shutdown(),
};
