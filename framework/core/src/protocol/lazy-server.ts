/** An application on a platform without a start and an end: it starts before its first request. @module */
import type { ASGIApp } from "./asgi.js";
import { guardLogger, type Logger } from "../common/logger.js";
import { ErrorResponse } from "./error-response.js";
import { Lifespan } from "./lifespan.js";
import { ServerContext } from "./server-context.js";
import { stopInTime } from "./shutdown.js";

/** Milliseconds that `close` takes at most, as `serve` does by default. */
const CLOSE_MS = 10_000;

/** The settings of a {@link LazyServer}. */
export interface LazySettings {
  readonly logger: Logger;
  /** First state of the lifespan; each scope gets a shallow copy. */
  readonly state: Readonly<Record<string, unknown>>;
  /** `false` if another server runs the lifespan. Defaults to `true`. */
  readonly hasLifespan?: boolean;
}

/** The application after its start. */
interface Started {
  readonly context: ServerContext;
  /** `null` if another server runs it. */
  readonly lifespan: Lifespan | null;
  /** The end of it; `null` before `close`. */
  closing: Promise<void> | null;
}

/** The application of a handler: its lifespan, and the requests that run. */
export class LazyServer {
  readonly #app: ASGIApp;
  readonly #logger: Logger;
  readonly #initialState: Readonly<Record<string, unknown>>;
  /** `null` before the start. */
  #started: Started | null = null;
  /** The start that other requests wait for as well. */
  #starting: Promise<Started | ErrorResponse> | null = null;

  constructor(app: ASGIApp, { logger, state, hasLifespan = true }: LazySettings) {
    this.#app = app;
    this.#logger = guardLogger(logger);
    this.#initialState = state;
    if (!hasLifespan) this.#started = this.#createStarted(null, state);
  }

  /** Shared by all requests; `null` before the start. */
  get context(): ServerContext | null {
    return this.#started === null ? null : this.#started.context;
  }

  /** Starts the application, once. Returns a response if that fails: the next request tries it again. */
  async start(): Promise<ServerContext | ErrorResponse> {
    const started = await (this.#starting ??= this.#start());
    return started instanceof ErrorResponse ? started : started.context;
  }

  /**
   * Waits for the requests that run, and ends the lifespan. A later request starts it again.
   *
   * @throws ShutdownTimeoutError when that takes longer than its time: the responses that still run are cut then.
   * @throws Error if the application's shutdown fails.
   */
  async close(timeoutMs = CLOSE_MS): Promise<void> {
    const started = this.#started ?? (await this.#starting);
    if (started === null || started instanceof ErrorResponse) return;
    await (started.closing ??= this.#close(started, timeoutMs));
  }

  async #close(started: Started, timeoutMs: number): Promise<void> {
    const { context, lifespan } = started;
    let isDrained = false;
    const leave = () => {
      if (this.#started !== started) return;
      this.#starting = null;
      this.#started = lifespan === null ? this.#createStarted(null, this.#initialState) : null;
    };
    await stopInTime({
      context,
      timeoutMs,
      running: () => (isDrained ? ["lifespan.shutdown"] : Array.from(context.running, ({ name }) => name)),
      drain: async () => {
        context.drain();
        await context.idle();
        isDrained = true;
        leave();
      },
      shutDown: async () => lifespan?.shutDown(),
      cut: leave,
    });
  }

  #createStarted(lifespan: Lifespan | null, state: Readonly<Record<string, unknown>>): Started {
    return { context: new ServerContext(this.#app, this.#logger, { state }), lifespan, closing: null };
  }

  async #start(): Promise<Started | ErrorResponse> {
    const lifespan = new Lifespan(this.#app, this.#logger, { ...this.#initialState });
    const failure = await lifespan.startUp();
    if (failure === null) return (this.#started = this.#createStarted(lifespan, lifespan.state));
    this.#starting = null;
    const { message, error } = failure;
    const text = "The application's startup failed, and is tried again by the next request";
    this.#logger.error(error === undefined ? {} : { err: error }, `${text}: ${message}`);
    return new ErrorResponse(503).as(this.#createStarted(lifespan, lifespan.state).context);
  }
}
