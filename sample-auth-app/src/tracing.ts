import type { Instrumentation } from "tsgi";

/** The part of `@opentelemetry/sdk-node` that is used. The package is optional: `npm install @opentelemetry/api @opentelemetry/sdk-node`. */
interface SDK {
  NodeSDK: new () => { start(): void };
}

/**
 * Traces requests where `OTEL_EXPORTER_OTLP_ENDPOINT` names a collector. The SDK reads its settings from the environment.
 *
 * @param warn takes the reason for which nothing is traced
 */
export async function startTracing(warn: (message: string) => void): Promise<Instrumentation[]> {
  if (!process.env["OTEL_EXPORTER_OTLP_ENDPOINT"]) {
    return [];
  }
  try {
    const sdk: string = "@opentelemetry/sdk-node"; // not a literal for the compiler, which would look for its types
    const { NodeSDK } = (await import(sdk)) as SDK;
    const { openTelemetry } = await import("tsgi/otel");
    new NodeSDK().start();
    return [openTelemetry({ steps: true })];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") {
      throw error;
    }
    warn("Nothing is traced: npm install @opentelemetry/api @opentelemetry/sdk-node");
    return [];
  }
}
