/** `prometheus`: metrics of requests and the endpoint that serves them. @module */
import type { Counter, Gauge, Histogram, Metric, Registry } from "prom-client";
import {
  App,
  Depends,
  type HTTPScope,
  type Instrumentation,
  type Observation,
  Response,
  Router,
  type WebSocketScope,
} from "tsgi";
import { assertOptions, expecting, FLAG, OBJECT, type OptionRules } from "tsgi/internals";
import * as library from "prom-client";
import { addMetricSources } from "./metric-sources.js";
import { refusePublic } from "./private-networks.js";
import { addProcessMetrics } from "./process-metrics.js";

/** Options of `prometheus`. */
export interface PrometheusOptions {
  /**
   * The registry for the metrics. Defaults to a new one; `register` of `prom-client` adds the metrics of the program.
   */
  register?: Registry;
  /** Upper bounds of the durations in seconds. Defaults to 14 from 0.005 to 10. */
  buckets?: readonly number[];
}

const OPTIONS: OptionRules<PrometheusOptions> = {
  register: OBJECT,
  buckets: expecting("ascending numbers above 0, in seconds", (value) => {
    const bounds: unknown = value;
    if (!Array.isArray(bounds) || bounds.length === 0) return false;
    return bounds.every((bound, index) => Number.isFinite(bound) && bound > (index === 0 ? 0 : bounds[index - 1]));
  }),
};

/** An instrumentation that counts, and the route that shows the figures. */
export interface Prometheus extends Instrumentation {
  /** The registry of the metrics. */
  readonly register: Registry;
  /**
   * Makes a router with the route that Prometheus scrapes. It is not in the OpenAPI document. By default, any client that can
   * reach the application can read it.
   *
   * @param path - Defaults to `"/metrics"`.
   */
  router(path?: string, options?: MetricsRouterOptions): Router;
}

/** Options of the router of `prometheus`. */
export interface MetricsRouterOptions {
  /**
   * Responds with 404 to clients outside of loopback and private networks, and if `X-Forwarded-For` lists an address outside.
   * A proxy in such a network must set that header, or hide the route itself. Defaults to `false`.
   */
  privateOnly?: boolean;
}

const ROUTER_OPTIONS: OptionRules<MetricsRouterOptions> = { privateOnly: FLAG };

/** Seconds; the bounds that OpenTelemetry advises for the duration of a request. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** Others are counted as `other`: a client can make up as many as it likes. */
const METHODS: ReadonlySet<string> = new Set("GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH".split(" "));

const LABELS = ["method", "route", "status"] as const;

type Labels = Readonly<Record<(typeof LABELS)[number], string>>;

interface Metrics {
  readonly requests: Counter<(typeof LABELS)[number]>;
  readonly durations: Histogram<(typeof LABELS)[number]>;
  readonly requestsInProgress: Gauge;
  readonly webSockets: Gauge;
}

const isApp = (value: unknown): value is App => value instanceof App;

/**
 * Counts and times requests for Prometheus, by method, pattern of the route and class of the status. The number of
 * series is limited by the routes, for any requests: labels never contain a path, host, header, cookie, query or body.
 *
 * @throws ConfigurationError for an option that cannot work. The module throws one where `prom-client` is missing.
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { prometheus } from "@tsgi/metrics";
 *
 * const metrics = prometheus();
 * const app = new App({ instrumentation: metrics });
 * app.includeRouter(metrics.router());
 * ```
 */
export function prometheus(options: PrometheusOptions = {}): Prometheus {
  assertOptions("prometheus()", options, OPTIONS);
  const { register = new library.Registry(), buckets = BUCKETS } = options;
  const metrics = createMetrics(register, buckets);
  const apps = new Set<App>();
  addProcessMetrics(register, apps);
  return {
    register,
    start(scope) {
      if (isApp(scope.app)) apps.add(scope.app);
      return new Measurement(scope, metrics);
    },
    router(path = "/metrics", routerOptions: MetricsRouterOptions = {}) {
      assertOptions("router()", routerOptions, ROUTER_OPTIONS);
      const dependencies = routerOptions.privateOnly === true ? [Depends(refusePublic())] : [];
      const router = new Router({ includeInSchema: false, dependencies });
      router.get(path, async () => {
        for (const app of apps) addMetricSources(register, app);
        const headers = { "content-type": register.contentType, "cache-control": "no-store" };
        return new Response(await register.metrics(), { headers });
      });
      return router;
    },
  };
}

function createMetrics(register: Registry, buckets: readonly number[]): Metrics {
  const registers = [register];
  return {
    requests: once(
      register,
      "http_requests_total",
      (name) => new library.Counter({ name, help: "Requests that are over.", labelNames: LABELS, registers }),
    ),
    durations: once(register, "http_request_duration_seconds", (name) => {
      const help = "Duration of requests, from the head to the end of the response, tasks and cleanup.";
      return new library.Histogram({ name, help, labelNames: LABELS, buckets: [...buckets], registers });
    }),
    requestsInProgress: once(
      register,
      "http_requests_in_progress",
      (name) => new library.Gauge({ name, help: "Requests under way.", registers }),
    ),
    webSockets: once(
      register,
      "websockets_in_progress",
      (name) => new library.Gauge({ name, help: "WebSockets under way.", registers }),
    ),
  };
}

/** Finds a metric in a registry that another `prometheus()` has used, or makes it. */
function once<Made extends Metric>(register: Registry, name: string, make: (name: string) => Made): Made {
  return (register.getSingleMetric(name) as Made | undefined) ?? make(name);
}

/** One request or WebSocket. */
class Measurement implements Observation {
  readonly #scope: HTTPScope | WebSocketScope;
  readonly #metrics: Metrics;
  readonly #startedAt = performance.now();
  #route = "none";
  #status = 0;

  constructor(scope: HTTPScope | WebSocketScope, metrics: Metrics) {
    this.#scope = scope;
    this.#metrics = metrics;
    this.#underWay.inc();
  }

  get #underWay(): Gauge {
    return this.#scope.type === "http" ? this.#metrics.requestsInProgress : this.#metrics.webSockets;
  }

  route(pattern: string): void {
    this.#route = pattern;
  }

  response(status: number): void {
    this.#status = status;
  }

  /** The duration of an accepted WebSocket is left out: it lasts as long as its client likes. */
  end(): void {
    this.#underWay.dec();
    const labels: Labels = {
      method: methodOf(this.#scope),
      route: this.#route,
      status: this.#status === 0 ? "aborted" : `${Math.floor(this.#status / 100)}xx`,
    };
    this.#metrics.requests.inc(labels);
    if (this.#status !== 101) this.#metrics.durations.observe(labels, (performance.now() - this.#startedAt) / 1000);
  }
}

/** The method; a WebSocket's handshake is a GET (RFC 6455 §4.1). */
function methodOf(scope: HTTPScope | WebSocketScope): string {
  if (scope.type === "websocket") return "GET";
  return METHODS.has(scope.method) ? scope.method : "other";
}
