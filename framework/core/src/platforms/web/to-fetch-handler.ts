/** The way from a platform's `fetch` to an application. @module */
import type { ASGIApp, HTTPScope } from "../../protocol/asgi.js";
import { assertApplication } from "../../protocol/callable.js";
import { LazyServer } from "../../protocol/lazy-server.js";
import { type Logger, loggerOf } from "../../common/logger.js";
import { assertOptions, MILLISECONDS, OBJECT, oneOf, type OptionRules } from "../../common/options.js";
import { ErrorResponse } from "../../protocol/error-response.js";
import { HEADER_NAME, parseAddress } from "../../protocol/http-grammar.js";
import { Exchange } from "../../protocol/exchange.js";
import type { ServerContext } from "../../protocol/server-context.js";
import type { CloseOptions } from "../../protocol/shutdown.js";
import { WebSocketSession } from "../../protocol/websocket-session.js";
import { FetchStream, invalidHost, toErrorResponse } from "./fetch-stream.js";
import { isWebSocketRequest, PairHandshake, toPairScope } from "./pair-handshake.js";
import { createFetchScope, type FetchContext, type FetchFacts, readContext } from "./scope.js";

/** Options of `toFetchHandler`. */
export interface FetchHandlerOptions {
  /** Logger of errors that escape the application. Defaults to the logger of an App, else to readable lines on stderr. */
  logger?: Logger;
  /** First state of the lifespan; each scope gets a shallow copy. Defaults to `{}`. */
  state?: Record<string, unknown>;
  /**
   * `"auto"`: the application is started before the first request; `"off"`: other code starts it. Defaults to `"auto"`.
   */
  lifespan?: "auto" | "off";
  /**
   * The header with the client's address, if the platform sets one: `"CF-Connecting-IP"` on Cloudflare, `"X-Real-Ip"` on
   * Vercel. If it does not contain exactly one address, the client is the one that the platform passes to the function, or
   * `null`. Choose a header that the platform replaces in each request: otherwise, clients can choose their address.
   */
  clientAddressHeader?: string;
}

/** A handler of requests in the form of web platforms. */
export type FetchHandler = (request: globalThis.Request, context?: FetchContext) => Promise<globalThis.Response>;

/**
 * A {@link FetchHandler} that can be closed. Its other forms are those of route handlers of Next.js and h3, of handlers that get
 * their request in an event (SvelteKit, Astro, React Router, TanStack Start), of `Bun.serve`, whose second argument is the
 * server, of `Deno.serve`, and of the default export of a Worker.
 */
export interface ClosableFetchHandler extends FetchHandler {
  (event: { readonly request: globalThis.Request }): Promise<globalThis.Response>;
  (request: globalThis.Request, context?: { readonly params?: unknown }): Promise<globalThis.Response>;
  (request: globalThis.Request, server: { requestIP: (request: never) => unknown }): Promise<globalThis.Response>;
  (request: globalThis.Request, info: { readonly remoteAddr: object }): Promise<globalThis.Response>;
  (
    request: globalThis.Request,
    env: unknown,
    context: { waitUntil: (promise: Promise<unknown>) => void },
  ): Promise<globalThis.Response>;
  /**
   * Waits for the requests that run, and ends the lifespan. A later request starts it again.
   *
   * @throws ShutdownTimeoutError when that takes longer than `timeoutMs`: responses that are not complete are cut then.
   * @throws Error if the application's shutdown fails.
   */
  readonly close: (options?: CloseOptions) => Promise<void>;
}

const OPTIONS: OptionRules<FetchHandlerOptions> = {
  logger: OBJECT,
  state: OBJECT,
  lifespan: oneOf("auto", "off"),
  clientAddressHeader: HEADER_NAME,
};

/**
 * Makes an ASGI application a handler for `Bun.serve`, `Deno.serve`, Cloudflare Workers, or anything else that has the
 * platform's `Request` and takes its `Response`. An `App` has one as `app.fetch`.
 *
 * The promise of the response settles with the head and the first chunk of the body, and never rejects. Bodies are
 * streamed in both directions, each part when it is asked for.
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
 * const response = await handler(new Request("http://localhost/"));
 * await handler.close();
 * ```
 */
export function toFetchHandler(app: ASGIApp, options: FetchHandlerOptions = {}): ClosableFetchHandler {
  assertApplication("toFetchHandler()", app);
  assertOptions("toFetchHandler()", options, OPTIONS);
  const { logger = loggerOf(app), state = {}, lifespan = "auto", clientAddressHeader: header } = options;
  const server = new LazyServer(app, { logger, state, hasLifespan: lifespan === "auto" });
  const handle = (given: Given, second?: unknown, third?: unknown) => {
    const request = "request" in given ? given.request : given;
    const facts = readContext(request, second, third);
    const client = header === undefined ? null : parseAddress(request.headers.get(header) ?? "");
    if (client !== null) facts.client = [client[0], null];
    return fetchFrom(server, request, facts);
  };
  // Other properties are ignored: as a listener of signals or a hook of tests, it gets other arguments than options.
  const close = async ({ timeoutMs }: CloseOptions = {}): Promise<void> => {
    if (timeoutMs !== undefined) MILLISECONDS("close()", "timeoutMs", timeoutMs);
    await server.close(timeoutMs);
  };
  return Object.assign(handle, { close });
}

/** The first argument of a handler: a request, or an object with one. */
type Given = globalThis.Request | { readonly request: globalThis.Request };

/** A request that is being served. */
interface Serving {
  readonly response: Promise<globalThis.Response>;
  /** Resolves when the application has settled. */
  readonly over: Promise<void>;
}

function refused(request: globalThis.Request, error: ErrorResponse): Serving {
  return { response: Promise.resolve(toErrorResponse(error, request.method)), over: Promise.resolve() };
}

function fetchFrom(server: LazyServer, request: globalThis.Request, facts: FetchFacts): Promise<globalThis.Response> {
  const { context } = server;
  if (context !== null) {
    const { response, over } = serveRequest(request, facts, context);
    facts.waitUntil?.(over);
    return response;
  }
  const serving = startAndServe(server, request, facts);
  // From the start on: a platform may end its work for a request whose client has disconnected, and others wait for the start.
  facts.waitUntil?.(serving.then(({ over }) => over));
  return serving.then(({ response }) => response);
}

async function startAndServe(server: LazyServer, request: globalThis.Request, facts: FetchFacts): Promise<Serving> {
  const context = await server.start();
  return context instanceof ErrorResponse ? refused(request, context) : serveRequest(request, facts, context);
}

function serveRequest(request: globalThis.Request, facts: FetchFacts, context: ServerContext): Serving {
  const stream = new FetchStream(request, typeof facts.client === "function");
  const scope = createFetchScope(request, facts, context, stream);
  if (scope === null) return refused(request, invalidHost.as(context));
  if (isWebSocketRequest(request)) return serveWebSocket(stream, scope, context);
  const exchange = new Exchange(context, stream, scope, null);
  stream.attach(exchange, scope);
  const over = exchange.run();
  return { response: stream.response, over };
}

function serveWebSocket(stream: FetchStream, httpScope: HTTPScope, context: ServerContext): Serving {
  const scope = toPairScope(httpScope);
  const session = new WebSocketSession(context, stream, scope, new PairHandshake(context, stream, httpScope));
  stream.attach(session, scope);
  stream.watch();
  return { response: stream.response, over: session.run(scope) };
}
