/** The interface of instrumentations: metrics, traces, the inspector. @module */
import type { HTTPScope, WebSocketScope } from "../../protocol/asgi.js";
import type { ResponseHeaders } from "../../http/response/headers.js";

/**
 * Observes one request or one WebSocket. Each method is optional. An error of one is logged the first time, and never
 * reaches the request.
 */
export interface Observation {
  /** Makes a context current for all that runs inside: middleware, dependencies, the handler, its stream, tasks, cleanup. */
  run?<T>(fn: () => T): T;
  /**
   * Called once a route has matched, with its whole pattern, including prefixes of mounts, and its name. Not called for
   * a 404.
   */
  route?(pattern: string, name: string): void;
  /**
   * Called when a part of the work begins, with the name of its function. Returns a function that is called at its end,
   * with the error that ended it.
   *
   * - `dependency`: the call of one dependency, without those that it depends on.
   * - `validation`: reading, converting and checking the parameters of one function, the body included.
   * - `handler`: the call of the handler. `pool`: within it the way to a worker and back, of a plain handler.
   * - `serialization`: checking and writing the result; where items are yielded, until the last one is sent.
   * - `background`: one task after the response.
   */
  step?(
    kind: "dependency" | "validation" | "handler" | "pool" | "serialization" | "background",
    name: string,
  ): (error?: unknown) => void;
  /**
   * Called once, before the head is sent; not called if the client has disconnected before it. For a WebSocket with 101, or with the status of its refusal. May add headers.
   */
  response?(status: number, headers: ResponseHeaders): void;
  /**
   * Called once, when the response, background tasks and cleanup are over.
   *
   * @param error - An error that resulted in a status of 500 or more, or that was thrown after the head. Not set for an
   *   exception with a lower status, nor for a disconnected client.
   */
  end?(error?: unknown): void;
}

/**
 * Observes the requests and WebSockets of an App, for traces, metrics and logs.
 *
 * @example
 * ```ts
 * import { App, type Instrumentation } from "tsgi";
 *
 * const slow: Instrumentation = {
 *   start(scope) {
 *     const startedAt = performance.now();
 *     return {
 *       end() {
 *         const ms = performance.now() - startedAt;
 *         if (ms > 1000) console.log("slow:", scope.path, ms);
 *       },
 *     };
 *   },
 * };
 * const app = new App({ instrumentation: slow });
 * ```
 */
export interface Instrumentation {
  /**
   * Called with each HTTP and each WebSocket scope, before middleware.
   *
   * @returns The observation of it; `undefined` to leave it unobserved.
   */
  start(scope: HTTPScope | WebSocketScope): Observation | undefined;
}

/** The kinds of steps that an observation is told about. */
export type StepKind = Parameters<NonNullable<Observation["step"]>>[0];

/** One value of a metric. */
export interface MetricSample {
  /** The name, if it is not the name of the metric: `_bucket`, `_sum` and `_count` of a histogram. */
  readonly name?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** A metric that is read when it is scraped. */
export interface MetricSource {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  read(): readonly MetricSample[] | Promise<readonly MetricSample[]>;
}

/** A property of the global object, so that two copies of this package meet. */
const SOURCES: unique symbol = Symbol.for("tsgi.metricSources");

const globals: typeof globalThis & { [SOURCES]?: WeakMap<object, Set<MetricSource>> } = globalThis;

/** Adds metrics to an App, once. */
export function addMetricSources(app: object, added: readonly MetricSource[]): void {
  const sources = (globals[SOURCES] ??= new WeakMap());
  const known = sources.get(app) ?? new Set();
  for (const source of added) known.add(source);
  sources.set(app, known);
}

/** The metrics that were added to an App. */
export function metricSourcesOf(app: object): Iterable<MetricSource> {
  return globals[SOURCES]?.get(app) ?? [];
}
