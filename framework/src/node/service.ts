/** What all requests of one server share. @module */
import type { ASGIApp } from "../asgi.js";
import type { Logger } from "../logger.js";
import type { Exchange } from "./exchange.js";
import type { RequestLimits } from "./request-head.js";

/** One application being served, and the exchanges that run on it. */
export class Service {
  readonly app: ASGIApp;
  readonly logger: Logger;
  /** The lifespan's state, of which each request gets a shallow copy. */
  readonly state: Record<string, unknown>;
  readonly limits: RequestLimits;
  /** Whether answers close their connection because the server is about to stop. */
  draining = false;
  /** The exchanges whose application call has not settled, background tasks included. */
  readonly running = new Set<Exchange>();
  #whenIdle: (() => void) | null = null;

  constructor(app: ASGIApp, logger: Logger, state: Record<string, unknown>, limits: RequestLimits) {
    this.app = app;
    this.logger = logger;
    this.state = state;
    this.limits = limits;
  }

  /** Forgets an exchange that is over. */
  finish(exchange: Exchange): void {
    this.running.delete(exchange);
    if (this.#whenIdle !== null && this.running.size === 0) {
      this.#whenIdle();
    }
  }

  /** Waits until nothing runs. */
  idle(): Promise<void> {
    return this.running.size === 0 ? Promise.resolve() : new Promise((resolve) => (this.#whenIdle = resolve));
  }
}
