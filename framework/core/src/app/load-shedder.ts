/** `new App({ shed })`: 503 for requests while the event loop is late. @module */
import type { ASGIApp, HTTPScope, Receive, Send, WebSocketScope } from "../protocol/asgi.js";
import type { Logger } from "../common/logger.js";
import { nodeModule } from "../common/platform.js";
import { canonicalPath, localPath } from "../protocol/scope.js";
import { refusalOf } from "../middleware/layer.js";
import { REFUSE, WebSocket } from "../http/websocket.js";
import type { Startable } from "./lifespan.js";
import { type LoadShedder, SHED_OPTIONS, type ShedOptions } from "./shed-options.js";

/** Milliseconds between two checks of the event loop, at least and at most. */
const [MIN_INTERVAL_MS, MAX_INTERVAL_MS] = [5, 100];

/** Milliseconds between two warnings in the log: there are thousands of rejected requests in the same overload. */
const WARNING_INTERVAL_MS = 10_000;

/** Measures how late the event loop runs a timer. */
class LoopDelay {
  readonly #intervalMs: number;
  readonly #now: () => number;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Infinity;
  #lastMs = 0;

  /** @throws ConfigurationError if the platform cannot measure it: the clock of Cloudflare does not advance while code runs. */
  constructor(intervalMs: number) {
    const { performance } = nodeModule("node:perf_hooks", "new App({ shed })");
    this.#now = () => performance.now();
    this.#intervalMs = intervalMs;
  }

  /** Begins to measure. Does not keep the process alive. */
  start(): void {
    this.#schedule();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#dueAt = Infinity;
    this.#lastMs = 0;
  }

  /**
   * The delay now: how late the last timer was, or the next one if it is overdue. Requests of the same turn of the event loop
   * are all handled before the next timer runs, so only the second value shows that one of them has blocked it.
   */
  get currentMs(): number {
    return Math.max(this.#lastMs, this.#now() - this.#dueAt);
  }

  #schedule(): void {
    this.#dueAt = this.#now() + this.#intervalMs;
    this.#timer = setTimeout(() => {
      this.#lastMs = this.#now() - this.#dueAt;
      this.#schedule();
    }, this.#intervalMs).unref();
  }
}

/** Rejects the requests of an App while its event loop is late. It measures from startup until shutdown. */
export class EventLoopShedder implements LoadShedder {
  readonly #options: ShedOptions;
  readonly #logger: Logger;
  readonly #delay: LoopDelay;
  readonly #exempt: ReadonlySet<string | null>;
  #users = 0;
  #warnedAt = -Infinity;

  /** @throws ConfigurationError without `eventLoopDelayMs`, or if the platform cannot measure the delay. */
  constructor(options: ShedOptions, logger: Logger) {
    const { eventLoopDelayMs, exempt = [] } = options;
    SHED_OPTIONS.eventLoopDelayMs("new App(): shed", "eventLoopDelayMs", eventLoopDelayMs);
    this.#options = options;
    this.#logger = logger;
    // A block that is longer than the limit by a quarter is found wherever it begins between two timers.
    this.#delay = new LoopDelay(Math.min(MAX_INTERVAL_MS, Math.max(MIN_INTERVAL_MS, Math.floor(eventLoopDelayMs / 4))));
    this.#exempt = new Set(exempt.map((path) => canonicalPath(path)));
  }

  /** Measures while the application runs, even if several servers start it. */
  around(inner: Startable): Startable {
    return {
      start: async (...args) => {
        if (this.#users++ === 0) this.#delay.start();
        const leave = () => {
          if (--this.#users === 0) this.#delay.stop();
        };
        const stop = await inner.start(...args).catch((error: unknown) => {
          leave();
          throw error;
        });
        return async () => {
          leave();
          await stop();
        };
      },
    };
  }

  /** The outermost middleware of the App: a rejected request costs as little as possible. */
  readonly middleware = (app: ASGIApp): ASGIApp => {
    const { eventLoopDelayMs } = this.#options;
    return (scope, receive, send) => {
      if (
        scope.type === "lifespan" ||
        this.#delay.currentMs <= eventLoopDelayMs ||
        this.#exempt.has(localPath(scope))
      ) {
        return app(scope, receive, send);
      }
      this.#warn();
      return this.#reject(scope, receive, send);
    };
  };

  async #reject(scope: HTTPScope | WebSocketScope, receive: Receive, send: Send): Promise<void> {
    const headers = { "retry-after": String(this.#options.retryAfterSeconds ?? 1), "cache-control": "no-store" };
    const response = refusalOf(scope, { statusCode: 503, detail: "The server is overloaded", headers });
    if (scope.type === "http") return response.send(send, scope.method === "HEAD");
    return new WebSocket(scope, receive, send)[REFUSE](response);
  }

  #warn(): void {
    const now = performance.now();
    if (now - this.#warnedAt < WARNING_INTERVAL_MS) return;
    this.#warnedAt = now;
    const delayMs = Math.round(this.#delay.currentMs);
    this.#logger.warn(
      { delayMs },
      `Requests get 503: the event loop is ${delayMs} ms late, and \`shed\` allows ${this.#options.eventLoopDelayMs}. ` +
        "Move CPU-bound work to non-async handlers, or add processes.",
    );
  }
}
