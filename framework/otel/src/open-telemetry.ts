/** `openTelemetry`: a span and a duration for each request. @module */
import type {
  Attributes,
  Context,
  Exception,
  Histogram,
  MeterProvider,
  Span,
  Tracer,
  TracerProvider,
} from "@opentelemetry/api";
import {
  HTTPException,
  type HTTPScope,
  type Instrumentation,
  type Observation,
  RequestValidationError,
  type WebSocketScope,
} from "tsgi";
import {
  assertOptions,
  errorMessage,
  FLAG,
  OBJECT,
  observedOf,
  type OptionRules,
  setContextCarrier,
  type StepKind,
} from "tsgi/internals";
import * as api from "@opentelemetry/api";
import { commonAttributes, errorType, methodOf, spanAttributes } from "./attributes.js";
import { carrier, contextOf } from "./propagation.js";

/** Options of `openTelemetry`. */
export interface OpenTelemetryOptions {
  /** Makes the spans. Defaults to the program's global one. */
  tracerProvider?: TracerProvider;
  /** Makes the metric. Defaults to the program's global one. */
  meterProvider?: MeterProvider;
  /** Makes a span for each call of a dependency, each validation and each call into the pool. Defaults to `false`. */
  steps?: boolean;
}

const OPTIONS: OptionRules<OpenTelemetryOptions> = { tracerProvider: OBJECT, meterProvider: OBJECT, steps: FLAG };

const NAME = "tsgi";

/** Upper bounds in seconds, which the semantic conventions advise for `http.server.request.duration`. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

const STEPS: ReadonlySet<StepKind> = new Set<StepKind>(["dependency", "validation", "pool"]);

/** The instruments of one App. */
interface Instruments {
  readonly tracer: Tracer;
  /** `null` where the program collects no metrics. */
  readonly duration: Histogram | null;
  readonly hasSteps: boolean;
}

/**
 * Traces and measures requests and WebSockets by OpenTelemetry, with the stable semantic conventions for HTTP.
 *
 * - A server span for each, `GET /items/{item_id}`, whose parent is the span of the header `traceparent`. It is active in
 *   middleware, dependencies, the handler, its stream and background tasks, and in a plain handler in a worker.
 * - The histogram `http.server.request.duration` in seconds.
 *
 * No header, cookie, query string or body is recorded.
 *
 * @throws ConfigurationError for an option that cannot work. The module throws one where `@opentelemetry/api` is missing.
 * @see {@link https://opentelemetry.io/docs/specs/semconv/http/ | Semantic conventions for HTTP}
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { openTelemetry } from "@tsgi/otel";
 *
 * const app = new App({ instrumentation: openTelemetry({ steps: true }) });
 * ```
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Instrumentation {
  assertOptions("openTelemetry()", options, OPTIONS);
  setContextCarrier(carrier);
  let instruments: Instruments | null = null;
  return {
    start(scope) {
      instruments ??= createInstruments(options);
      return instruments === null ? undefined : RequestTrace.start(scope, instruments);
    },
  };
}

/**
 * Made with a request, as a program may set its providers after it has made the App. Returns `null` while it is not
 * set.
 */
function createInstruments({ tracerProvider, meterProvider, steps = false }: OpenTelemetryOptions): Instruments | null {
  const meter = (meterProvider ?? api.metrics).getMeter(NAME);
  const hasMeter = meter !== api.createNoopMeter();
  if (tracerProvider === undefined && !hasMeter && !hasGlobalTracer()) return null;
  const duration = hasMeter
    ? meter.createHistogram("http.server.request.duration", {
        description: "Duration of HTTP server requests.",
        unit: "s",
        advice: { explicitBucketBoundaries: BUCKETS },
      })
    : null;
  return { tracer: (tracerProvider ?? api.trace).getTracer(NAME), duration, hasSteps: steps };
}

/** Tells if the program has set a provider, to which the library's provider delegates. */
function hasGlobalTracer(): boolean {
  const provider: TracerProvider & { getDelegateTracer?: (name: string) => unknown } = api.trace.getTracerProvider();
  return provider.getDelegateTracer === undefined || provider.getDelegateTracer(NAME) !== undefined;
}

/** With the messages of the errors that it contains: Node's `AggregateError` of a refused connection has an empty message. */
function toException(error: Error): Exception {
  const { name, stack, code } = error as Error & { code?: string | number };
  return { name, message: errorMessage(error), stack, code };
}

/** One request or WebSocket. */
class RequestTrace implements Observation {
  readonly #instruments: Instruments;
  readonly #scope: HTTPScope | WebSocketScope;
  readonly #span: Span;
  readonly #context: Context;
  readonly #startedAt = performance.now();
  #route: string | null = null;
  #status: number | null = null;
  readonly step?: NonNullable<Observation["step"]>;

  /** Returns `null` if it would have no effect: the program has no provider, and the request no parent. */
  static start(scope: HTTPScope | WebSocketScope, instruments: Instruments): RequestTrace | undefined {
    const parent = contextOf(scope);
    const options = { kind: api.SpanKind.SERVER, attributes: spanAttributes(scope) };
    const span = instruments.tracer.startSpan(nameOf(scope, null), options, parent);
    const isTraced = span.isRecording() || api.isSpanContextValid(span.spanContext());
    if (!isTraced && instruments.duration === null) return undefined;
    return new RequestTrace(scope, instruments, span, api.trace.setSpan(parent, span));
  }

  constructor(scope: HTTPScope | WebSocketScope, instruments: Instruments, span: Span, context: Context) {
    this.#scope = scope;
    this.#instruments = instruments;
    this.#span = span;
    this.#context = context;
    if (instruments.hasSteps) this.step = (kind, name) => this.#startStep(kind, name);
  }

  run<Result>(fn: () => Result): Result {
    observedOf(this.#scope)?.trace(this.#span.spanContext().traceId);
    return api.context.with(this.#context, fn);
  }

  route(pattern: string): void {
    this.#route = pattern;
    this.#span.updateName(nameOf(this.#scope, pattern));
    this.#span.setAttribute("http.route", pattern);
  }

  response(status: number): void {
    this.#status = status;
    this.#span.setAttribute("http.response.status_code", status);
  }

  end(error?: unknown): void {
    const isFailed = error !== undefined || (this.#status ?? 0) >= 500;
    const type = error === undefined ? String(this.#status) : errorType(error);
    if (isFailed) {
      if (error !== undefined) this.#span.recordException(error instanceof Error ? toException(error) : type);
      this.#span.setAttribute("error.type", type);
      this.#span.setStatus({ code: api.SpanStatusCode.ERROR });
    }
    this.#measure(isFailed ? type : null);
    this.#span.end();
  }

  /** An accepted WebSocket is left out: it lasts as long as its client likes. */
  #measure(failure: string | null): void {
    const { duration } = this.#instruments;
    if (duration === null || this.#status === 101) return;
    const attributes: Attributes = commonAttributes(this.#scope);
    if (this.#route !== null) attributes["http.route"] = this.#route;
    if (this.#status !== null) attributes["http.response.status_code"] = this.#status;
    if (failure !== null) attributes["error.type"] = failure;
    duration.record((performance.now() - this.#startedAt) / 1000, attributes, this.#context);
  }

  #startStep(kind: StepKind, name: string): (error?: unknown) => void {
    if (!STEPS.has(kind)) return () => {};
    const options = { attributes: { "code.function.name": name } };
    const span = this.#instruments.tracer.startSpan(`${kind} ${name}`, options, this.#context);
    return (error) => {
      if (error !== undefined) span.setAttribute("error.type", errorType(error));
      if (error !== undefined && !isExpected(error)) span.setStatus({ code: api.SpanStatusCode.ERROR });
      span.end();
    };
  }
}

/** `GET /items/{item_id}`, or only the method; for an unknown one `HTTP`. */
function nameOf(scope: HTTPScope | WebSocketScope, route: string | null): string {
  const method = methodOf(scope);
  const name = method === "_OTHER" ? "HTTP" : method;
  return route === null ? name : `${name} ${route}`;
}

/** Tells if an error is one of the client's, to which the application has responded as intended. */
function isExpected(error: unknown): boolean {
  return (error instanceof HTTPException && error.statusCode < 500) || error instanceof RequestValidationError;
}
