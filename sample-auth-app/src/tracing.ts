import { type Instrumentation, Router } from "tsgi";

/** The part of `@opentelemetry/sdk-node` that is used. The package is optional: `npm install @opentelemetry/sdk-node`. */
interface SDK {
  NodeSDK: new () => { start(): void; shutdown(): Promise<void> };
}

/** Traces of an application. */
export interface Tracing {
  instrumentation: Instrumentation;
  /** Has no routes: its lifespan sends the last spans when the application ends. */
  router: Router;
}

/**
 * Traces requests where `OTEL_EXPORTER_OTLP_ENDPOINT` names a collector. The SDK reads its settings from the environment.
 *
 * @param warn gets the reason why tracing is disabled
 */
export async function startTracing(warn: (message: string) => void): Promise<Tracing | null> {
  if (!process.env["OTEL_EXPORTER_OTLP_ENDPOINT"]) {
    return null;
  }
  try {
    const sdk: string = "@opentelemetry/sdk-node"; // not a literal for the compiler, which would look for its types
    const { NodeSDK } = (await import(sdk)) as SDK;
    const { openTelemetry } = await import("@tsgi/otel");
    const running = new NodeSDK();
    running.start();
    const router = new Router({
      lifespan: async function* () {
        yield;
        await running.shutdown();
      },
    });
    return { instrumentation: openTelemetry({ steps: true }), router };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") {
      throw error;
    }
    warn("Tracing is disabled: npm install @opentelemetry/sdk-node");
    return null;
  }
}
