/** An application on a platform without a start and an end: it starts before its first request. @module */
import type { ASGIApp } from "./asgi.js";
import { guardLogger, type Logger } from "../common/logger.js";
import { Deferred, setIdleTimeout } from "../common/promises.js";
import { ErrorResponse } from "./error-response.js";
import { Lifespan } from "./lifespan.js";
import { ServerContext } from "./server-context.js";

/** Milliseconds that `close` waits for the requests that run, as `serve` does by default. */
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

  /** Waits for the requests that run, 10 seconds at most, and ends the lifespan. A later request starts it again. */
  async close(): Promise<void> {
    const started = this.#started ?? (await this.#starting);
    if (started === null || started instanceof ErrorResponse) return;
    const { context, lifespan } = started;
    context.drain();
    await settled(context);
    if (this.#started !== started) return;
    this.#starting = null;
    this.#started = lifespan === null ? this.#createStarted(null, this.#initialState) : null;
    await lifespan?.shutDown();
  }

  #createStarted(lifespan: Lifespan | null, state: Readonly<Record<string, unknown>>): Started {
    return { context: new ServerContext(this.#app, this.#logger, { state }), lifespan };
  }

  async #start(): Promise<Started | ErrorResponse> {
    const lifespan = new Lifespan(this.#app, this.#logger, { ...this.#initialState });
    const failure = await lifespan.startUp();
    if (failure === null) return (this.#started = this.#createStarted(lifespan, lifespan.state));
    this.#starting = null;
    const { message, error } = failure;
    const text = "The application's startup failed, and is tried again by the next request";
    this.#logger.error(error === undefined ? {} : { err: error }, `${text}: ${message}`);
    return new ErrorResponse(500).as(this.#createStarted(lifespan, lifespan.state).context);
  }
}

/** Waits for running requests. The wait has a limit, because a response that its client does not read never ends. */
async function settled(context: ServerContext): Promise<void> {
  const limit = new Deferred<void>();
  const timer = setIdleTimeout(() => limit.resolve(), CLOSE_MS);
  await Promise.race([context.idle(), limit.promise]);
  clearTimeout(timer);
}
