/** Metrics of other packages, which `prometheus()` serves with its own. @module */

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
