/** What all requests of one server share. @module */
import type { ASGIApp } from "../asgi.js";
import type { Logger } from "../logger.js";
import type { Connection } from "./connection.js";
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
  /** The open connections, and those whose last exchange still runs; of a server of our own only. */
  readonly connections = new Set<Connection>();
  #whenIdle: (() => void) | null = null;

  constructor(app: ASGIApp, logger: Logger, state: Record<string, unknown>, limits: RequestLimits) {
    this.app = app;
    this.logger = logger;
    this.state = state;
    this.limits = limits;
  }

  /** The exchanges whose application call has not settled, background tasks included. */
  get running(): Exchange[] {
    return Array.from(this.connections, (connection) => connection.exchanges).flat();
  }

  /** The server is about to stop: answers close their connection from now on, and streams of events are to end. */
  drain(): void {
    this.draining = true;
    for (const exchange of this.running) {
      exchange.drain();
    }
  }

  /** An exchange has ended. */
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
