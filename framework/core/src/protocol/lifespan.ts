/**
 * The life of the application around its requests: startup before the port opens, shutdown after the last response.
 * @module
 */
import { clearTimeout, setTimeout } from "../common/timers.js";
import type { ASGIApp, LifespanEventMessage, LifespanScope, SendMessage } from "./asgi.js";
import { errorText, type Logger } from "../common/logger.js";
import { ProtocolError } from "../common/exceptions.js";
import { Deferred } from "../common/promises.js";

/** The key of a lifespan scope of a server that reports the error of a start: the application sends it, and does not log it. */
export const TAKES_ERRORS: unique symbol = Symbol.for("tsgi.takesErrors");

/** The key of a lifespan scope for a signal that aborts when the server stops and no longer waits for the startup. */
export const ABANDONED: unique symbol = Symbol.for("tsgi.abandoned");

/** The lifespan scope of such a server. */
export interface ReportingScope extends LifespanScope {
  [TAKES_ERRORS]?: true;
  [ABANDONED]?: AbortSignal;
}

/** Why an application did not start. */
export interface StartupFailure {
  readonly message: string;
  /** The error, if the application sends it. */
  readonly error?: unknown;
}

type Outcome = { ok: true } | ({ ok: false } & StartupFailure);

/**
 * Runs an application's lifespan scope.
 *
 * An application that ends or throws on that scope before it has responded to `lifespan.startup` does not support
 * lifespan: it is still served, and gets no further lifespan message.
 *
 * @see ASGI 3.0, "Lifespan Protocol"
 */
export class Lifespan {
  /** State of startup for the requests; each gets a shallow copy. */
  readonly state: Record<string, unknown>;
  readonly #app: ASGIApp;
  readonly #logger: Logger;
  readonly #started = new Deferred<Outcome>();
  readonly #stopped = new Deferred<Outcome>();
  readonly #shutdown = new Deferred<LifespanEventMessage>();
  readonly #abandoned = new AbortController();
  #received = 0;
  #phase: "idle" | "starting" | "serving" | "stopping" | "over" = "idle";

  /** @param state - What startup begins with. */
  constructor(app: ASGIApp, logger: Logger, state: Record<string, unknown> = {}) {
    this.state = state;
    this.#app = app;
    this.#logger = logger;
  }

  /** Waits until the application is ready. Gives the reason if it sends `lifespan.startup.failed`, else `null`. */
  async startUp(): Promise<StartupFailure | null> {
    this.#phase = "starting";
    void this.#run();
    const outcome = await this.#started.promise;
    return outcome.ok ? null : outcome;
  }

  get isStarting(): boolean {
    return this.#phase === "starting";
  }

  /**
   * Lets the application clean up, once.
   *
   * @param graceMs - Milliseconds until a startup in progress is abandoned: an App then undoes the completed steps.
   * @throws Error when it says `lifespan.shutdown.failed`.
   */
  async shutDown(graceMs = 0): Promise<void> {
    if (this.isStarting) await this.#endStartup(graceMs);
    if (this.#phase !== "serving") {
      return;
    }
    this.#phase = "stopping";
    this.#shutdown.resolve({ type: "lifespan.shutdown" });
    const outcome = await this.#stopped.promise;
    if (!outcome.ok) {
      throw new Error(`The application's shutdown failed: ${outcome.message}`);
    }
  }

  async #endStartup(graceMs: number): Promise<void> {
    const { signal } = this.#abandoned;
    const timer = setTimeout(() => this.#abandoned.abort(), graceMs);
    const outcome = await this.#started.promise;
    clearTimeout(timer);
    if (outcome.ok || (signal.aborted && outcome.error === signal.reason)) return;
    throw new Error(`The application's startup failed: ${outcome.message}`);
  }

  async #run(): Promise<void> {
    const scope: ReportingScope = {
      type: "lifespan",
      asgi: { version: "3.0", spec_version: "2.0" },
      state: this.state,
      [TAKES_ERRORS]: true,
      [ABANDONED]: this.#abandoned.signal,
    };
    try {
      await this.#app(
        scope,
        () => this.#receive(),
        (message) => this.#send(message),
      );
      this.#ended();
    } catch (error) {
      this.#ended(error);
    }
  }

  #receive(): Promise<LifespanEventMessage> {
    return this.#received++ === 0 ? Promise.resolve({ type: "lifespan.startup" }) : this.#shutdown.promise;
  }

  #send(message: SendMessage): void {
    switch (`${this.#phase} ${message.type}`) {
      case "starting lifespan.startup.complete":
        this.#phase = "serving";
        return this.#started.resolve({ ok: true });
      case "starting lifespan.startup.failed":
        this.#phase = "over";
        return this.#started.resolve({
          ok: false,
          message: messageOf(message),
          ...("error" in message ? { error: message.error } : {}),
        });
      case "stopping lifespan.shutdown.complete":
        this.#phase = "over";
        return this.#stopped.resolve({ ok: true });
      case "stopping lifespan.shutdown.failed":
        this.#phase = "over";
        return this.#stopped.resolve({ ok: false, message: messageOf(message) });
    }
    throw new ProtocolError(`"${message.type}" was sent on the lifespan scope while it was ${this.#phase}.`);
  }

  #ended(...thrown: [error?: unknown]): void {
    const phase = this.#phase;
    this.#phase = "over";
    if (phase === "starting") {
      if (thrown.length === 1) {
        this.#logger.info({}, `The application is served without a lifespan (${errorText(thrown[0])}).`);
      }
      this.#started.resolve({ ok: true });
    } else if (phase === "serving") {
      this.#logger.error({ err: thrown[0] }, "The application's lifespan ended while it was being served.");
    } else if (phase === "stopping") {
      this.#stopped.resolve(thrown.length === 0 ? { ok: true } : { ok: false, message: errorText(thrown[0]) });
    }
  }
}

function messageOf(message: SendMessage): string {
  return "message" in message && message.message ? message.message : "no reason was given";
}
