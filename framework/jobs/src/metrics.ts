/** The metrics of jobs, for `prometheus()` of `@tsgi/metrics`. @module */
import type { Instrumentation } from "tsgi";
import { addMetricSources, type MetricSample, type MetricSource } from "tsgi/internals";

/** The end of a run, as a label. */
type OutcomeLabel = "done" | "failed" | "dead" | "interrupted";

/** Seconds. Jobs take longer than requests do. */
const BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** The durations of the runs of one job. */
interface Durations {
  /** The runs up to each bound. */
  readonly counts: number[];
  sum: number;
  count: number;
}

/** Counts jobs of this process. */
export class JobMetrics {
  readonly #enqueued = new Map<string, number>();
  readonly #finished = new Map<string, { readonly name: string; readonly outcome: OutcomeLabel; count: number }>();
  readonly #durations = new Map<string, Durations>();
  /** Observes an App only to find it, and does not observe its requests. */
  readonly instrumentation: Instrumentation;

  /** @param waiting - Counts the jobs that wait, by name. */
  constructor(waiting: () => Promise<ReadonlyMap<string, number>>) {
    const sources = this.#sources(waiting);
    this.instrumentation = {
      start({ app }) {
        if (typeof app === "function" || (typeof app === "object" && app !== null)) addMetricSources(app, sources);
        return undefined;
      },
    };
  }

  enqueued(name: string): void {
    this.#enqueued.set(name, (this.#enqueued.get(name) ?? 0) + 1);
  }

  finished(name: string, outcome: OutcomeLabel, seconds: number): void {
    const key = `${name} ${outcome}`;
    const entry = this.#finished.get(key) ?? { name, outcome, count: 0 };
    entry.count++;
    this.#finished.set(key, entry);
    let durations = this.#durations.get(name);
    if (!durations) this.#durations.set(name, (durations = { counts: BUCKETS.map(() => 0), sum: 0, count: 0 }));
    for (const [index, bound] of BUCKETS.entries()) if (seconds <= bound) durations.counts[index]!++;
    durations.sum += seconds;
    durations.count++;
  }

  #sources(waiting: () => Promise<ReadonlyMap<string, number>>): MetricSource[] {
    return [
      {
        name: "tsgi_jobs_enqueued_total",
        help: "Jobs that this process has enqueued.",
        type: "counter",
        read: () => samplesOf(this.#enqueued),
      },
      {
        name: "tsgi_jobs_finished_total",
        help: "Runs of jobs that have ended in this process.",
        type: "counter",
        read: () =>
          Array.from(this.#finished.values(), ({ name, outcome, count }) => ({
            labels: { name, outcome },
            value: count,
          })),
      },
      {
        name: "tsgi_jobs_duration_seconds",
        help: "Duration of the runs of jobs in this process.",
        type: "histogram",
        read: () => [...this.#durations].flatMap(([name, durations]) => histogramOf(name, durations)),
      },
      {
        name: "tsgi_jobs_waiting",
        help: "Jobs that wait for a run, delayed ones included.",
        type: "gauge",
        read: async () => samplesOf(await waiting()),
      },
    ];
  }
}

function samplesOf(counts: ReadonlyMap<string, number>): MetricSample[] {
  return Array.from(counts, ([name, value]) => ({ labels: { name }, value }));
}

function histogramOf(name: string, { counts, sum, count }: Durations): MetricSample[] {
  const metric = "tsgi_jobs_duration_seconds";
  const bucket = (le: string | number, value: number) => ({ name: `${metric}_bucket`, labels: { le, name }, value });
  return [
    ...BUCKETS.map((bound, index) => bucket(bound, counts[index] ?? 0)),
    bucket("+Inf", count),
    { name: `${metric}_sum`, labels: { name }, value: sum },
    { name: `${metric}_count`, labels: { name }, value: count },
  ];
}
