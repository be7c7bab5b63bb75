import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";

/** Providers of the real SDK that record their calls. The tracer's is the global one of the test file. */
export class Telemetry {
  readonly #spans = new InMemorySpanExporter();
  readonly #metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  readonly #reader = new PeriodicExportingMetricReader({ exporter: this.#metrics, exportIntervalMillis: 2 ** 31 - 1 });
  readonly tracerProvider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(this.#spans)] });
  readonly meterProvider = new MeterProvider({ readers: [this.#reader] });

  /** The spans that have ended since the last call. */
  takeSpans(): ReadableSpan[] {
    const spans = this.#spans.getFinishedSpans();
    this.#spans.reset();
    return spans;
  }

  /** The one span that has ended since the last call. */
  takeSpan(): ReadableSpan {
    const spans = this.takeSpans();
    if (spans.length !== 1) throw new Error(`Expected one span: ${spans.map(({ name }) => name).join(", ")}`);
    return spans[0]!;
  }

  /** The histograms by name, each with its unit, its bounds, and the attributes and the count of its points. */
  async histograms() {
    await this.#reader.forceFlush();
    const metrics =
      this.#metrics
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? [];
    return metrics.map(({ descriptor, dataPoints }) => ({
      name: descriptor.name,
      unit: descriptor.unit,
      points: dataPoints.map(({ attributes, value }) => {
        const { buckets, count, sum } = value as { buckets: { boundaries: number[] }; count: number; sum: number };
        return { attributes, bounds: buckets.boundaries, count, sum };
      }),
    }));
  }
}
