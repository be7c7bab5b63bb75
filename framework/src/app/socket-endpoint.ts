import type { ASGIApp, Receive, Send, WebSocketScope } from "../asgi.js";
import {
  acceptArguments,
  Call,
  type CallSettings,
  closeExits,
  compileRoute,
  createFindOverride,
  type DependencyOverrides,
  pathNames,
  type RoutePlan,
  solveRoute,
  throwIntoExits,
} from "../dependencies.js";
import { ConfigurationError, HTTPException, RequestValidationError, WebSocketException } from "../exceptions.js";
import { httpExceptionHandler, requestValidationExceptionHandler } from "../exception-handlers.js";
import { errorText } from "../logger.js";
import { wrap } from "../middleware.js";
import { paramsOf } from "../params.js";
import type { PathParams, RouteEntry } from "../router.js";
import { WebSocket } from "../websocket.js";
import { type EndpointSettings, OVERRIDES, type RouteRecord } from "./endpoint.js";
import { isDisconnect } from "./errors.js";

/** RFC 6455 §7.4.1: the server met a condition that it did not expect. */
const INTERNAL_ERROR = 1011;

/** A client that has gone needs no close. */
function ignoreDisconnect(error: unknown): void {
  if (!isDisconnect(error)) throw error;
}

/** One WebSocket route, compiled: from the scope to the close. */
export class SocketEndpoint {
  readonly record: RouteRecord;
  readonly #plan: RoutePlan;
  readonly #handler: (args: object) => unknown;
  readonly #settings: CallSettings;
  readonly #names: readonly string[];
  readonly #overrides: DependencyOverrides;
  readonly #app: ASGIApp;

  /** @throws ConfigurationError naming the path. */
  constructor(entry: RouteEntry, settings: EndpointSettings, overrides: DependencyOverrides) {
    const { path, handler, options } = entry;
    this.record = Object.freeze({ method: entry.method, path, handler, metadata: options });
    try {
      const params = paramsOf(handler)?.["ws"] === WebSocket ? options.params : { ...options.params, ws: WebSocket };
      this.#plan = compileRoute(handler, path, params ?? {}, entry.dependencies, "websocket");
    } catch (error) {
      if (error instanceof ConfigurationError) error.message = `WEBSOCKET ${path}: ${error.message}`;
      throw error;
    }
    this.#handler = handler as (args: object) => unknown;
    this.#names = pathNames(path);
    this.#overrides = overrides;
    const limits = { ...settings.limits, ...options.limits };
    this.#settings = { limits, logger: settings.logger, embedBody: false, statusCode: 200 };
    const innermost: ASGIApp = (scope, receive, send) => this.#run(scope as WebSocketScope, receive, send);
    this.#app = entry.middleware.reduceRight<ASGIApp>((inner, list) => wrap(inner, list), innermost);
  }

  /** Serves one connection. */
  call(scope: WebSocketScope, receive: Receive, send: Send, pathParams: PathParams): Promise<void> {
    const own = { ...scope, path_params: pathParams };
    return this.#app(own, receive, send);
  }

  async #run(scope: WebSocketScope, receive: Receive, send: Send): Promise<void> {
    const pathParams = (scope as { path_params?: PathParams }).path_params ?? {};
    const call = new Call(scope, receive, send, pathParams, this.#settings);
    const outer = (scope as { [OVERRIDES]?: readonly DependencyOverrides[] })[OVERRIDES] ?? [];
    call.findOverride = createFindOverride([...outer, this.#overrides], this.#names);
    const { websocket } = call;
    try {
      const args = acceptArguments(await solveRoute(this.#plan, call), call);
      const handler = this.#handler;
      await handler(args);
    } catch (cause) {
      const error = call.exits ? await throwIntoExits(call.exits, cause, this.#settings.logger) : cause;
      await this.#close(websocket, error).catch(ignoreDisconnect);
    }
    try {
      await websocket.close().catch(ignoreDisconnect);
    } finally {
      const { exits } = call;
      if (exits) await closeExits(exits, "function", this.#settings.logger);
      await call.backgroundIfMade?.run();
      if (exits) await closeExits(exits, "request", this.#settings.logger);
    }
  }

  /** Closes after an error: before `accept` with its status, after it with its code, or with 1011 and a log line. */
  async #close(websocket: WebSocket, error: unknown): Promise<void> {
    if (websocket.isOwnEnd(error) || isDisconnect(error)) return;
    if (error instanceof WebSocketException) return websocket.close(error.code, error.reason);
    const isRefusal = error instanceof HTTPException || error instanceof RequestValidationError;
    if (isRefusal && websocket.readyState === "connecting") {
      const { statusCode, headers, body } =
        error instanceof HTTPException ? httpExceptionHandler(error) : requestValidationExceptionHandler(error);
      return websocket.refuse(statusCode, headers, body);
    }
    const { path } = websocket;
    this.#settings.logger.error({ err: error, path }, `WEBSOCKET ${path} failed: ${errorText(error)}`);
    return websocket.close(INTERNAL_ERROR, "Internal Server Error");
  }
}
