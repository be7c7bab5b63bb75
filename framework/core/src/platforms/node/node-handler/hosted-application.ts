/** The life of an application in another server: it starts before its first request, and has no port. @module */
import { AsyncLocalStorage } from "node:async_hooks";
import type { ASGIApp } from "../../../protocol/asgi.js";
import type { Logger } from "../../../common/logger.js";
import { Deferred } from "../../../common/promises.js";
import { ErrorResponse } from "../../../protocol/error-response.js";
import { Lifespan } from "../../../protocol/lifespan.js";
import { ServerContext, type Proxies } from "../../../protocol/server-context.js";
import { stopInTime } from "../../../protocol/shutdown.js";
import { serverStartError, startupGraceMs } from "../stoppable-server.js";

const unavailable = new ErrorResponse(503);
const stopping = new ErrorResponse(503, "The server is about to stop.");

/** The settings of a {@link HostedApplication}. */
interface HostedSettings {
  readonly logger: Logger;
  readonly state: Record<string, unknown>;
  readonly proxies: Proxies | null;
  /** `false` if other code runs the lifespan. */
  readonly hasLifespan: boolean;
}

/** One attempt to start the application, and the requests after it. */
class Run {
  readonly context: ServerContext;
  readonly #lifespan: Lifespan;

  constructor(app: ASGIApp, { logger, state, proxies, hasLifespan }: HostedSettings) {
    // Other code that runs the lifespan may fill its state later.
    this.#lifespan = new Lifespan(app, logger, hasLifespan ? { ...state } : state);
    this.context = new ServerContext(app, logger, { state: this.#lifespan.state, proxies });
  }

  /** @throws ServerStartError if the startup of the application fails. */
  async start(): Promise<void> {
    const failure = await this.#lifespan.startUp();
    if (failure !== null) throw serverStartError("ELIFESPAN", [failure.message], { cause: failure.error });
  }

  /** @param cut - Closes the connections that belong to the application. */
  async stop(timeoutMs: number, cut: () => void): Promise<void> {
    const { context } = this;
    let isDrained = false;
    await stopInTime({
      context,
      timeoutMs,
      running: () =>
        isDrained
          ? [`lifespan.${this.#lifespan.isStarting ? "startup" : "shutdown"}`]
          : Array.from(context.running, ({ name }) => name),
      drain: async () => {
        context.drain();
        await context.idle();
        isDrained = true;
      },
      shutDown: () => this.#lifespan.shutDown(startupGraceMs(timeoutMs)),
      cut,
    });
  }
}

/** Called with the context of the application, and with a response if the application does not serve. */
type Use = (context: ServerContext, refusal: ErrorResponse | null) => void;

/** An application that a handler starts once, and stops for good. */
export class HostedApplication {
  readonly #logger: Logger;
  readonly #createRun: () => Run;
  /** Outside of the request that causes the start: timers and connections of the startup must not have its context. */
  readonly #outside = AsyncLocalStorage.snapshot();
  readonly #closed = new Deferred<void>();
  #run: Run;
  #isReady: boolean;
  /** The start that is awaited. Resolves to the error if it fails: the next request tries it again. */
  #starting: Promise<{ readonly error: unknown } | null> | null = null;
  #closing: Promise<void> | null = null;

  constructor(app: ASGIApp, settings: HostedSettings) {
    this.#logger = settings.logger;
    this.#createRun = () => new Run(app, settings);
    this.#run = this.#createRun();
    this.#isReady = !settings.hasLifespan;
  }

  /** Calls back once it is known if the application serves, immediately if it is known already. */
  use(call: Use): void {
    if (this.#closing === null && this.#isReady) call(this.#run.context, null);
    else if (this.#closing !== null) call(this.#run.context, stopping);
    else void this.#startForRequest().then((refusal) => call(this.#run.context, refusal));
  }

  async #startForRequest(): Promise<ErrorResponse | null> {
    const isFirst = this.#starting === null;
    const failure = await this.#started();
    if (this.#closing !== null) return stopping;
    if (failure === null) return null;
    if (isFirst) {
      this.#logger.error({ err: failure.error }, "The startup failed, and is tried again by the next request.");
    }
    return unavailable;
  }

  /** @throws ServerStartError if the startup of the application fails. */
  async start(): Promise<void> {
    if (this.#closing === null && this.#isReady) return;
    const failure = this.#closing === null ? await this.#started() : null;
    if (this.#closing !== null) {
      throw new Error("The handler is closed. To serve the application again, call toNodeHandler() again.");
    }
    if (failure !== null) throw failure.error;
  }

  #started(): Promise<{ readonly error: unknown } | null> {
    return (this.#starting ??= this.#outside(() => this.#tryToStart()));
  }

  async #tryToStart(): Promise<{ readonly error: unknown } | null> {
    const run = (this.#run = this.#createRun());
    try {
      await Promise.race([run.start(), this.#closed.promise]);
      this.#isReady = true;
      return null;
    } catch (error) {
      return { error };
    } finally {
      this.#starting = null;
    }
  }

  /** Stops it, once. @param cut - Closes the connections that belong to the application. */
  close(timeoutMs: number, cut: () => void): Promise<void> {
    this.#closed.resolve();
    return (this.#closing ??= this.#run.stop(timeoutMs, cut));
  }
}
