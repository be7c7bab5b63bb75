/** Figures of the process: the pool of plain handlers and the event loop. @module */
import { type EventLoopUtilization, monitorEventLoopDelay, performance } from "node:perf_hooks";
import type { Registry } from "prom-client";
import type { App } from "tsgi";
import type { PoolStats } from "tsgi/concurrency";
import * as library from "prom-client";

/** A metric that is read when it is scraped. */
interface Figure {
  readonly name: string;
  readonly help: string;
  readonly read: () => number;
}

const POOL: Readonly<Record<keyof PoolStats, readonly [name: string, help: string]>> = {
  size: ["tsgi_pool_size", "Workers of the pool at most."],
  ready: ["tsgi_pool_workers_ready", "Workers that take calls."],
  busy: ["tsgi_pool_workers_busy", "Workers that run a call."],
  queued: ["tsgi_pool_calls_queued", "Calls that wait for a worker."],
  restarts: ["tsgi_pool_worker_restarts", "Workers that replaced one which had ended."],
};

/** @param apps - The Apps whose pools are counted, together. */
export function addProcessMetrics(register: Registry, apps: ReadonlySet<App>): void {
  for (const figure of [...poolFigures(apps), ...loopFigures()]) {
    if (register.getSingleMetric(figure.name) !== undefined) continue;
    new library.Gauge({
      name: figure.name,
      help: figure.help,
      registers: [register],
      collect() {
        this.set(figure.read());
      },
    });
  }
}

function poolFigures(apps: ReadonlySet<App>): Figure[] {
  return Object.entries(POOL).map(([key, [name, help]]) => ({
    name,
    help,
    read: () => [...apps].reduce((sum, app) => sum + (app.poolStats?.[key as keyof PoolStats] ?? 0), 0),
  }));
}

/** The delay of a loop without work is the resolution of its measurement. */
const RESOLUTION_MS = 10;

const NANOSECONDS = 1e9;

function loopFigures(): Figure[] {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let last: EventLoopUtilization = performance.eventLoopUtilization();
  const delayAt = (percentile: number) => () => delay.percentile(percentile) / NANOSECONDS;
  return [
    {
      name: "tsgi_event_loop_utilization",
      help: "Share of the time since the last scrape in which the event loop was busy, 0 to 1.",
      read() {
        const now = performance.eventLoopUtilization();
        const { utilization } = performance.eventLoopUtilization(now, last);
        last = now;
        return utilization;
      },
    },
    { name: "tsgi_event_loop_delay_p50_seconds", help: "Median of the event loop's delay.", read: delayAt(50) },
    {
      name: "tsgi_event_loop_delay_p99_seconds",
      help: "99th percentile of the event loop's delay since the last scrape.",
      read() {
        const seconds = delayAt(99)();
        delay.reset();
        return seconds;
      },
    },
  ];
}
