/** `startTracing`: the SDK of OpenTelemetry, by its environment variables. @module */
import type { Instrumentation, Logger } from "tsgi";
import { assertOptions, consoleLogger, FLAG, guardLogger, OBJECT, type OptionRules } from "tsgi/internals";
import { openTelemetry } from "./open-telemetry.js";

/** Options of `startTracing`. */
export interface StartTracingOptions {
  /** Receives the reason why tracing is disabled, or the last spans are lost. Defaults to lines on stderr. */
  logger?: Logger;
  /** Makes a span for each call of a dependency, each validation and each call into the pool. Defaults to `false`. */
  steps?: boolean;
}

/** The traces of a program. */
export interface Tracing {
  readonly instrumentation: Instrumentation;
  /** Sends the last spans, and stops the SDK: for `app.onShutdown`. Logs a warning if the collector is unavailable. */
  readonly shutdown: () => Promise<void>;
}

const OPTIONS: OptionRules<StartTracingOptions> = { logger: OBJECT, steps: FLAG };

/** Half of the time in which a server stops by default: the SDK waits 10 s for a collector that does not reply. */
const MAX_STOP_MS = 5_000;

/** The variables of OpenTelemetry for the address of a collector: of all signals, and of traces. */
const COLLECTORS = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];

/** The part of `@opentelemetry/sdk-node` that is used. */
interface SDK {
  readonly NodeSDK: new () => RunningSDK;
}

interface RunningSDK {
  start(): void;
  shutdown(): Promise<void>;
}

/**
 * Starts the SDK of `@opentelemetry/sdk-node`, an optional peer dependency, if `OTEL_EXPORTER_OTLP_ENDPOINT` or
 * `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` contains the address of a collector. The SDK reads its other settings from the environment too, such as `OTEL_SERVICE_NAME`.
 *
 * @returns `null` without these variables. If the package is missing, it also logs a warning, because an application must not
 * depend on its traces.
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { startTracing } from "@tsgi/otel";
 *
 * const tracing = await startTracing({ steps: true });
 * const app = new App({ instrumentation: tracing === null ? [] : [tracing.instrumentation] });
 * if (tracing !== null) app.onShutdown(tracing.shutdown);
 * ```
 */
export async function startTracing(options: StartTracingOptions = {}): Promise<Tracing | null> {
  assertOptions("startTracing()", options, OPTIONS);
  const { steps = false } = options;
  if (COLLECTORS.every((name) => !process.env[name])) return null;
  const logger = guardLogger(options.logger ?? consoleLogger);
  const sdk = await loadSDK();
  if (sdk === null) {
    logger.warn({}, "Tracing is disabled: npm install @opentelemetry/sdk-node");
    return null;
  }
  const running = new sdk.NodeSDK();
  running.start();
  return { instrumentation: openTelemetry({ steps }), shutdown: () => stop(running, logger) };
}

/** Sends the last spans. An application must stop without its collector, which is unavailable or does not reply. */
async function stop(running: RunningSDK, logger: Logger): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No reply within ${MAX_STOP_MS} ms`)), MAX_STOP_MS);
  });
  try {
    await Promise.race([running.shutdown(), late]);
  } catch (err) {
    logger.warn({ err }, "The collector did not receive the last spans.");
  } finally {
    clearTimeout(timer);
  }
}

/** Loads the package; `null` if it is missing. */
async function loadSDK(): Promise<SDK | null> {
  const name: string = "@opentelemetry/sdk-node"; // not a literal for the compiler, which would look for its types
  try {
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)) as SDK;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND") return null;
    throw error;
  }
}
