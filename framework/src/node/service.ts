/** What all requests of one server share. @module */
import type { ASGIApp } from "../asgi.js";
import type { Logger } from "../logger.js";
import type { Call, Line } from "./connection.js";
import type { RequestLimits } from "./request-head.js";
import type { TrustedProxies } from "./trusted-proxies.js";

/** One application being served, and the calls that run on it. */
export class Service {
  readonly app: ASGIApp;
  readonly logger: Logger;
  /** The lifespan's state, of which each request gets a shallow copy. */
  readonly state: Record<string, unknown>;
  readonly limits: RequestLimits;
  /** Whose word on a request's client counts; `null` for nobody's. */
  readonly proxies: TrustedProxies | null;
  /** Whether answers close their connection because the server is about to stop. */
  draining = false;
  /** The open connections, and those whose last call still runs; of a server of our own only. */
  readonly connections = new Set<Line>();
  #whenIdle: (() => void) | null = null;

  constructor(
    app: ASGIApp,
    logger: Logger,
    state: Record<string, unknown>,
    limits: RequestLimits,
    proxies: TrustedProxies | null,
  ) {
    this.app = app;
    this.logger = logger;
    this.state = state;
    this.limits = limits;
    this.proxies = proxies;
  }

  /** The calls of the application that have not settled, background tasks included. */
  get running(): Call[] {
    return Array.from(this.connections, (connection) => connection.calls).flat();
  }

  /** The server is about to stop: answers close their connection from now on, and streams of events are to end. */
  drain(): void {
    this.draining = true;
    for (const call of this.running) {
      call.drain();
    }
  }

  /** A call has ended. */
  finished(): void {
    if (this.#whenIdle !== null && this.running.length === 0) {
      this.#whenIdle();
    }
  }

  /** Waits until nothing runs. */
  idle(): Promise<void> {
    return this.running.length === 0 ? Promise.resolve() : new Promise((resolve) => (this.#whenIdle = resolve));
  }
}
