/** The way from a platform's `fetch` to an application. @module */
import type { ASGIApp, HTTPScope } from "../../protocol/asgi.js";
import { assertApplication } from "../../protocol/callable.js";
import { Lifespan } from "../../protocol/lifespan.js";
import { consoleLogger, guardLogger, type Logger } from "../../common/logger.js";
import { assertOptions, OBJECT, oneOf, type OptionRules } from "../../common/options.js";
import { Deferred, setIdleTimeout } from "../../common/promises.js";
import { ErrorResponse } from "../../protocol/error-response.js";
import { Exchange } from "../../protocol/exchange.js";
import { ServerContext } from "../../protocol/server-context.js";
import { WebSocketSession } from "../../protocol/websocket-session.js";
import { FetchStream, toErrorResponse } from "./fetch-stream.js";
import { isWebSocketRequest, PairHandshake, toPairScope } from "./pair-handshake.js";
import { createFetchScope, type FetchContext, readContext } from "./scope.js";

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

const errors = {
  host: new ErrorResponse(400, "Expected exactly one well-formed Host header."),
  failed: new ErrorResponse(500),
};

/** A request that is being served. */
interface Serving {
  readonly response: Promise<globalThis.Response>;
  /** Resolves when the application has settled. */
  readonly over: Promise<void>;
}

function refused(request: globalThis.Request, error: ErrorResponse): Serving {
  return { response: Promise.resolve(toErrorResponse(error, request.method)), over: Promise.resolve() };
}

/** The application after its start-up. */
interface Started {
  readonly context: ServerContext;
  /** `null` if somebody else runs it. */
  readonly lifespan: Lifespan | null;
}

/** The application of a handler: its lifespan, and the requests that run. */
class FetchServer {
  readonly #app: ASGIApp;
  readonly #logger: Logger;
  readonly #initialState: Readonly<Record<string, unknown>>;
  /** `null` before the start. */
  #started: Started | null = null;
  /** The start that other requests wait for as well. */
  #starting: Promise<Started | null> | null = null;

  constructor(app: ASGIApp, { logger = consoleLogger, state = {}, lifespan = "auto" }: FetchHandlerOptions) {
    this.#app = app;
    this.#logger = guardLogger(logger);
    this.#initialState = state;
    if (lifespan === "off") this.#started = this.#createStarted(null, state);
  }

  #createStarted(lifespan: Lifespan | null, state: Readonly<Record<string, unknown>>): Started {
    return { context: new ServerContext(this.#app, this.#logger, { state }), lifespan };
  }

  fetch(request: globalThis.Request, context: FetchContext): Promise<globalThis.Response> {
    if (this.#started !== null) {
      const { response, over } = serveRequest(request, context, this.#started.context);
      context.waitUntil?.(over);
      return response;
    }
    const serving = this.#startAndServe(request, context);
    // From the start on: a platform may end its work for a request whose client has disconnected, and others wait for the start.
    context.waitUntil?.(serving.then(({ over }) => over));
    return serving.then(({ response }) => response);
  }

  async #startAndServe(request: globalThis.Request, context: FetchContext): Promise<Serving> {
    const started = await (this.#starting ??= this.#start());
    return started === null ? refused(request, errors.failed) : serveRequest(request, context, started.context);
  }

  /** Starts the application. `null` if that fails: the next request tries it again. */
  async #start(): Promise<Started | null> {
    const lifespan = new Lifespan(this.#app, this.#logger, { ...this.#initialState });
    const failure = await lifespan.startUp();
    if (failure === null) return (this.#started = this.#createStarted(lifespan, lifespan.state));
    this.#starting = null;
    const { message, error } = failure;
    const text = "The application's start-up failed, and is tried again by the next request";
    this.#logger.error(error === undefined ? {} : { err: error }, `${text}: ${message}`);
    return null;
  }

  async close(): Promise<void> {
    const started = this.#started ?? (await this.#starting);
    if (started === null) return;
    const { context, lifespan } = started;
    context.drain();
    await settled(context);
    if (this.#started !== started) return;
    this.#starting = null;
    this.#started = lifespan === null ? this.#createStarted(null, this.#initialState) : null;
    await lifespan?.shutDown();
  }
}

/** Waits for the requests that run; not for ever, as a response that nobody reads never ends. */
async function settled(context: ServerContext): Promise<void> {
  const limit = new Deferred<void>();
  const timer = setIdleTimeout(() => limit.resolve(), CLOSE_MS);
  await Promise.race([context.idle(), limit.promise]);
  clearTimeout(timer);
}

function serveRequest(request: globalThis.Request, facts: FetchContext, context: ServerContext): Serving {
  const scope = createFetchScope(request, facts, context);
  if (scope === null) return refused(request, errors.host);
  const stream = new FetchStream(request);
  if (isWebSocketRequest(request)) return serveWebSocket(stream, scope, context);
  const exchange = new Exchange(context, stream, scope, null);
  stream.attach(exchange);
  return { response: stream.response, over: exchange.run() };
}

function serveWebSocket(stream: FetchStream, httpScope: HTTPScope, context: ServerContext): Serving {
  const scope = toPairScope(httpScope);
  const session = new WebSocketSession(context, stream, scope, new PairHandshake(context, stream, httpScope));
  stream.attach(session);
  stream.watch();
  return { response: stream.response, over: session.run(scope) };
}
