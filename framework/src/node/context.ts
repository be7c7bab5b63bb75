/** The application that a server serves, and the calls of it that run. @module */
import type { ASGIApp, Receive, Scope, Send } from "../asgi.js";
import type { Logger } from "../logger.js";
import { DRAINING } from "../request.js";
import type { TrustedProxies } from "./trusted-proxies.js";

/** A call of the application: an HTTP exchange or a WebSocket session. */
export interface Call {
  /** Its name in a log line: `"GET /items"`. */
  readonly name: string;
  /** The server is about to stop: ends what has no end of its own. */
  drain(): void;
  /** The time to stop is nearly up: cuts the response if its client does not read it. */
  cutUnread(): void;
  /**
   * The application has returned, or has failed.
   *
   * @returns A promise for the time until what it has sent is with the system; nothing where it is.
   */
  settled(failure: { readonly error: unknown } | null): Promise<void> | undefined;
}

/** One application being served. All requests of a server share it. */
export class ServerContext {
  readonly app: ASGIApp;
  readonly logger: Logger;
  /** The lifespan's state, of which each request gets a shallow copy. */
  readonly state: Record<string | symbol, unknown>;
  /** Trusted proxies; `null` for none. */
  readonly proxies: TrustedProxies | null;
  /** `true` while the server drains: each response closes its connection. */
  draining = false;
  /** The calls that have not settled, background tasks included. */
  readonly running = new Set<Call>();
  #onIdle: (() => void) | null = null;

  constructor(app: ASGIApp, logger: Logger, state: Record<string, unknown>, proxies: TrustedProxies | null) {
    this.app = app;
    this.logger = logger;
    this.state = state;
    this.proxies = proxies;
  }

  /** Calls the application. Never rejects. */
  async run(call: Call, scope: Scope, receive: Receive, send: Send): Promise<void> {
    this.running.add(call);
    let failure: { readonly error: unknown } | null = null;
    try {
      await this.app(scope, receive, send);
    } catch (error) {
      failure = { error };
    }
    try {
      const flushed = call.settled(failure);
      if (flushed !== undefined) await flushed;
    } catch (error) {
      // On a server of another make, somebody else may have sent a head before.
      this.logger.error({ err: error }, `The response could not be sent: ${call.name}`);
    }
    this.running.delete(call);
    if (this.#onIdle !== null && this.running.size === 0) this.#onIdle();
  }

  /** Responses close their connection from now on, and streams of events end. */
  drain(): void {
    this.draining = true;
    this.state[DRAINING] = true;
    for (const call of this.running) call.drain();
  }

  /** Cuts the responses that wait for their clients to read. */
  cutUnread(): void {
    for (const call of this.running) call.cutUnread();
  }

  /** Waits until no call runs. */
  idle(): Promise<void> {
    return this.running.size === 0 ? Promise.resolve() : new Promise((resolve) => (this.#onIdle = resolve));
  }
}
