/** The way from a platform's `fetch` to an application. @module */
import type { ASGIApp } from "../asgi.js";
import { assertApplication } from "../callable.js";
import { Lifespan } from "../lifespan.js";
import { consoleLogger, guardLogger, type Logger } from "../logger.js";
import { assertOptions, OBJECT, oneOf, type OptionRules } from "../options.js";
import { Deferred, setIdleTimeout } from "../promises.js";
import { errorAnswer, Exchange } from "./exchange.js";
import { acceptHandshakes, isWebSocketRequest } from "./web-socket.js";
import { createScope, type FetchContext, readContext } from "./scope.js";

/** Options of `toFetchHandler`. */
export interface FetchHandlerOptions {
  /** Logger of errors that escape the application. Defaults to readable lines on stderr. */
  logger?: Logger;
  /** First state of the lifespan; each scope gets a shallow copy. Defaults to `{}`. */
  state?: Record<string, unknown>;
  /** `"auto"`: the application is started before the first request; `"off"`: by somebody else. Defaults to `"auto"`. */
  lifespan?: "auto" | "off";
}

/** A handler of requests in the form of web platforms. */
export type FetchHandler = (request: globalThis.Request, context?: FetchContext) => Promise<globalThis.Response>;

/**
 * A {@link FetchHandler} that can be closed. Its other forms are those of `Bun.serve`, whose second argument is the server,
 * of `Deno.serve`, and of the default export of a Worker.
 */
export interface ClosableFetchHandler extends FetchHandler {
  (request: globalThis.Request, server: { requestIP: (request: never) => unknown }): Promise<globalThis.Response>;
  (request: globalThis.Request, info: { readonly remoteAddr: object }): Promise<globalThis.Response>;
  (
    request: globalThis.Request,
    env: unknown,
    context: { waitUntil: (promise: Promise<unknown>) => void },
  ): Promise<globalThis.Response>;
  /** Waits for the requests that run, 10 seconds at most, and ends the lifespan. A later request starts it anew. */
  close(): Promise<void>;
}

const OPTIONS: OptionRules<FetchHandlerOptions> = { logger: OBJECT, state: OBJECT, lifespan: oneOf("auto", "off") };

/** Milliseconds that `close` waits for the requests that run, as `serve` does by default. */
const CLOSE_MS = 10_000;

/**
 * Makes an ASGI application a handler for `Bun.serve`, `Deno.serve`, Cloudflare Workers, or anything else that has the
 * platform's `Request` and takes its `Response`. An `App` has one as `app.fetch`.
 *
 * The answer's promise settles with the head and the first part of the body, and never rejects. Bodies are streamed in both
 * directions, each part when it is asked for.
 *
 * @throws ConfigurationError for anything but an application, and for an unknown option.
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { toFetchHandler } from "tsgi/web";
 *
 * const app = new App();
 * app.get("/", async () => "hello");
 * const handler = toFetchHandler(app, { state: { region: "eu" } });
 * const answer = await handler(new Request("http://localhost/"));
 * await handler.close();
 * ```
 */
export function toFetchHandler(app: ASGIApp, options: FetchHandlerOptions = {}): ClosableFetchHandler {
  assertApplication("toFetchHandler()", app);
  assertOptions("toFetchHandler()", options, OPTIONS);
  const server = new FetchServer(app, options);
  const handle = (request: globalThis.Request, second?: unknown, third?: unknown) =>
    server.fetch(request, readContext(request, second, third));
  return Object.assign(handle, { close: () => server.close() });
}

const MALFORMED_HOST = "Expected exactly one well-formed Host header.";

/** A request that is being answered. */
interface Serving {
  readonly answer: Promise<globalThis.Response>;
  /** Resolves when the application has settled. */
  readonly over: Promise<void>;
}

function served(answer: globalThis.Response): Serving {
  return { answer: Promise.resolve(answer), over: Promise.resolve() };
}

/** The application behind a handler: its life, and the requests that run. */
class FetchServer {
  readonly #app: ASGIApp;
  readonly #logger: Logger;
  readonly #initialState: Readonly<Record<string, unknown>>;
  readonly #isAuto: boolean;
  /** The number of requests that run. */
  #running = 0;
  readonly #onSettled = (): void => {
    this.#running--;
    if (this.#running === 0) this.#idle?.resolve();
  };
  /** Resolves when none runs; `null` while nobody waits for that. */
  #idle: Deferred<void> | null = null;
  /** The state, copied for each scope; `null` before the start. */
  #state: Readonly<Record<string, unknown>> | null = null;
  /** The start that others wait for as well. */
  #starting: Promise<Lifespan | null> | null = null;

  constructor(app: ASGIApp, { logger = consoleLogger, state = {}, lifespan = "auto" }: FetchHandlerOptions) {
    this.#app = app;
    this.#logger = guardLogger(logger);
    this.#initialState = state;
    this.#isAuto = lifespan === "auto";
    if (!this.#isAuto) this.#state = state;
  }

  fetch(request: globalThis.Request, context: FetchContext): Promise<globalThis.Response> {
    if (this.#state !== null) {
      const { answer, over } = this.#serve(request, context, this.#state);
      context.waitUntil?.(over);
      return answer;
    }
    const serving = this.#startAndServe(request, context);
    // From the start on: a platform may end what it does for a request whose client has gone, and others wait for the start.
    context.waitUntil?.(serving.then(({ over }) => over));
    return serving.then(({ answer }) => answer);
  }

  async #startAndServe(request: globalThis.Request, context: FetchContext): Promise<Serving> {
    const lifespan = await (this.#starting ??= this.#start());
    return lifespan === null ? served(errorAnswer(request)) : this.#serve(request, context, lifespan.state);
  }

  #serve(request: globalThis.Request, context: FetchContext, state: Readonly<Record<string, unknown>>): Serving {
    const scope = createScope(request, context, state);
    if (scope === null) return served(errorAnswer(request, 400, MALFORMED_HOST));
    const exchange = new Exchange(request, scope, this.#logger, this.#onSettled);
    const app = isWebSocketRequest(request)
      ? acceptHandshakes(this.#app, (answer) => exchange.answerHandshake(answer))
      : this.#app;
    this.#running++;
    return { answer: exchange.answer, over: exchange.run(app) };
  }

  /** Starts the application. `null` where that fails: the next request tries it again. */
  async #start(): Promise<Lifespan | null> {
    const lifespan = new Lifespan(this.#app, this.#logger, { ...this.#initialState });
    const failure = await lifespan.startUp();
    if (failure === null) {
      this.#state = lifespan.state;
      return lifespan;
    }
    this.#starting = null;
    const { message, error } = failure;
    const text = "The application's start-up failed, and is tried again by the next request";
    this.#logger.error(error === undefined ? {} : { err: error }, `${text}: ${message}`);
    return null;
  }

  async close(): Promise<void> {
    const starting = this.#starting;
    const lifespan = await starting;
    await this.#settled();
    if (this.#starting !== starting || !this.#isAuto) return;
    this.#starting = null;
    this.#state = null;
    await lifespan?.shutDown();
  }

  /** Waits for what runs; not for ever, as an answer that nobody reads never ends. */
  async #settled(): Promise<void> {
    if (this.#running === 0) return;
    const idle = (this.#idle ??= new Deferred<void>());
    const timer = setIdleTimeout(() => idle.resolve(), CLOSE_MS);
    await idle.promise;
    this.#idle = null;
    clearTimeout(timer);
  }
}
