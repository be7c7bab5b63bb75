/** Metrics of other packages, such as the metrics of jobs. @module */
import type { Registry } from "prom-client";
import type { App } from "tsgi";
import { type MetricSource, metricSourcesOf } from "tsgi/internals";
import * as library from "prom-client";

/** A metric whose values are read from its source. It is a gauge to prom-client, and has the type of its source for Prometheus. */
class SourceMetric extends library.Gauge {
  readonly #source: MetricSource;

  constructor(source: MetricSource, register: Registry) {
    super({ name: source.name, help: source.help, registers: [register] });
    this.#source = source;
  }

  override async get(): ReturnType<InstanceType<typeof library.Gauge>["get"]> {
    const samples = await this.#source.read();
    const values = samples.map(({ name, labels, value }) => ({ metricName: name, labels: { ...labels }, value }));
    return Object.assign(await super.get(), { type: this.#source.type, values });
  }
}

/** Serves the metrics that other packages have added to an App. */
export function addMetricSources(register: Registry, app: App): void {
  for (const source of metricSourcesOf(app)) {
    if (register.getSingleMetric(source.name) === undefined) new SourceMetric(source, register);
  }
}
