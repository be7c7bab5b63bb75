/** WebSocket routes: dependencies, handler and close of each connection. @module */
import type { ASGIApp, Receive, Send, WebSocketScope } from "../protocol/asgi.js";
import { Call, type CallSettings } from "../parameters/dependencies/call.js";
import { compileRoute } from "../parameters/dependencies/compile.js";
import { createFindOverride, type DependencyOverrides } from "../parameters/dependencies/overrides.js";
import type { RoutePlan } from "../parameters/dependencies/plan.js";
import {
  configurationError,
  type Fault,
  findCloseFault,
  HTTPException,
  RequestValidationError,
  ResponseValidationError,
  WebSocketException,
  withPlace,
  foreignError,
} from "../common/exceptions.js";
import {
  httpExceptionHandler,
  requestValidationExceptionHandler,
  serverErrorHandler,
} from "../http/exception-handlers.js";
import { mergeLimits } from "../http/limits.js";
import { errorText, type Logger } from "../common/logger.js";
import { wrap } from "../middleware/chain.js";
import { observedOf } from "../middleware/observation/observed.js";
import { type Callable, functionOf } from "../parameters/depends.js";
import { isGeneratorFunction, paramsOf } from "../parameters/annotation.js";
import type { Response } from "../http/response/response.js";
import type { PathPattern } from "../routing/path-pattern.js";
import { type AppRouteEntry, routeNameOf, type RouteRecord } from "../routing/entries.js";
import { IS_OWN_END, type MessageRules, REFUSE, WebSocket } from "../http/websocket.js";
import type { EndpointSettings } from "./endpoint.js";
import { type Life, live, type MountedScope, OVERRIDES } from "./life.js";
import { assertPoolable, isPooled } from "./pool-rules.js";
import { assertTaggable } from "./entity-tag.js";
import { assertNotTransactional } from "./transactions.js";
import type { MessageSchemas } from "../routing/options.js";
import { compileReturns, compileSchema, type Schema } from "../schema/schema.js";
import { Faults } from "../schema/faults.js";

/** Errors without the received or sent values, which may be secret and are logged. */
function withoutInput(faults: Faults): Fault[] {
  return faults.forClient().map(({ type, loc, msg }) => ({ type, loc, msg }));
}

function compileReceive(schema: Schema, path: string, logger: Logger): NonNullable<MessageRules["receive"]> {
  const { check } = compileSchema(schema);
  const refuse = (errors: readonly Fault[], why: string): null => {
    logger.warn({ path, errors }, `WEBSOCKET ${path}: a message does not fit \`receives\`: ${why}`);
    return null;
  };
  return async (parse) => {
    let message: unknown;
    try {
      message = parse();
    } catch {
      return refuse([], "it is not JSON");
    }
    const faults = new Faults();
    const value: unknown = await check(message, faults);
    if (faults.count === 0) return { value };
    const errors = withoutInput(faults);
    return refuse(errors, new RequestValidationError(errors).message);
  };
}

function compileSend(schema: Schema): NonNullable<MessageRules["send"]> {
  const write = compileReturns(schema);
  return async (message) => {
    const faults = new Faults();
    const text = await write(message === undefined ? null : message, faults);
    if (faults.count === 0 && text !== undefined) return text;
    throw new ResponseValidationError(withoutInput(faults), "The message does not fit `sends`");
  };
}

/**
 * Compiles the schemas of a WebSocket's messages.
 *
 * @throws ConfigurationError for a value that is not a schema, or cannot describe sent messages.
 */
function compileMessages({ receives, sends }: MessageSchemas, path: string, logger: Logger): MessageRules {
  return {
    receive: receives === undefined ? null : compileReceive(receives, path, logger),
    send: sends === undefined ? null : compileSend(sends),
  };
}

/** RFC 6455 §7.4.1: the server met a condition that it did not expect. */
const INTERNAL_ERROR = 1011;

/** @throws ConfigurationError for a handler that would never be run, or never get its `ws`. */
function assertSocketHandler(handler: Callable, names: readonly string[], declared: unknown): void {
  if (isGeneratorFunction(handler)) {
    throw configurationError("TSGI_WEBSOCKET_HANDLER_YIELDS");
  }
  if (names.includes("ws") || (declared !== undefined && declared !== WebSocket)) {
    throw configurationError("TSGI_RESERVED_PARAMETER_NAME");
  }
}

/** A WebSocket has no response at which a transaction could end: transactional dependencies are refused at registration or when they begin. */
const noTransactions = () => Promise.resolve();

/** One WebSocket route, compiled: from the scope to the close. */
export class SocketEndpoint {
  readonly record: RouteRecord;
  readonly pattern: PathPattern;
  readonly plan: RoutePlan;
  readonly #life: Life<void>;
  readonly #settings: CallSettings;
  readonly #overrides: DependencyOverrides;
  /** Sends connections through the middleware of the route and its routers to the handler. */
  readonly app: ASGIApp;

  /** @throws ConfigurationError naming the path. */
  constructor(entry: AppRouteEntry, settings: EndpointSettings, overrides: DependencyOverrides) {
    const { path, handler, options } = entry;
    this.record = Object.freeze({ method: entry.method, path, handler, metadata: options });
    const limits = withPlace(`WEBSOCKET ${path}`, () => mergeLimits(settings.limits, options.limits));
    this.plan = withPlace(`WEBSOCKET ${path}`, () => {
      assertSocketHandler(handler, entry.pattern.names, options.params?.["ws"]);
      const params = paramsOf(handler)?.["ws"] === WebSocket ? options.params : { ...options.params, ws: WebSocket };
      const plan = compileRoute({
        handler,
        role: routeNameOf(this.record),
        names: entry.pattern.names,
        params: params ?? {},
        guards: entry.dependencies,
        protocol: "websocket",
        application: settings.application,
      });
      if (settings.pool.isOn && isPooled(handler, options)) assertPoolable(plan.handler.specs);
      assertNotTransactional(plan, "a WebSocket");
      assertTaggable("WEBSOCKET", options, null);
      return plan;
    });
    this.#life = {
      plan: this.plan.handler,
      handle: functionOf(handler),
      result: async (call) => {
        await call.closeFunctionScope(noTransactions);
        await call.websocket.close();
      },
      failure: (call, error) => this.#fail(call, error),
    };
    this.pattern = entry.pattern;
    this.#overrides = overrides;
    const messages = withPlace(`WEBSOCKET ${path}`, () => compileMessages(options, path, settings.logger));
    this.#settings = {
      limits,
      messages,
      logger: settings.logger,
      embedBody: false,
      faultOrder: this.plan.faultOrder,
      takesFiles: false,
      statusCode: 200,
      mayHoldTransactions: false,
    };
    const innermost: ASGIApp = (scope, receive, send) => this.#run(scope as WebSocketScope, receive, send);
    this.app = entry.middleware.reduceRight<ASGIApp>((inner, list) => wrap(inner, list), innermost);
  }

  #run(scope: WebSocketScope & MountedScope, receive: Receive, send: Send): Promise<void> {
    const call = new Call(scope, receive, send, this.#settings);
    return live(
      this.#life,
      call,
      createFindOverride([...(scope[OVERRIDES] ?? []), this.#overrides], this.pattern.names),
    );
  }

  /** Ends a WebSocket after an error: with its close code; before `accept` with its status; else with 1011. */
  async #fail(call: Call, thrown: unknown): Promise<void> {
    const { websocket } = call;
    const error = foreignError(thrown) ?? thrown;
    if (websocket[IS_OWN_END](error) || call.isDisconnect(error)) return;
    if (error instanceof WebSocketException && findCloseFault(error.code, error.reason) === null) {
      if (error.code === INTERNAL_ERROR) this.#log(websocket, error);
      return websocket.close(error.code, error.reason);
    }
    if (websocket.readyState !== "connecting") {
      this.#log(websocket, error);
      return websocket.close(INTERNAL_ERROR, "Internal Server Error");
    }
    const response = this.#toRefusal(websocket, error);
    if (response.statusCode >= 500) observedOf(websocket.scope)?.fail(error);
    await websocket[REFUSE](response);
  }

  /** The response to a handshake that an error rejects. */
  #toRefusal(websocket: WebSocket, error: unknown): Response {
    try {
      if (error instanceof HTTPException) {
        if (error.statusCode >= 500 && error.cause !== undefined) this.#log(websocket, error);
        return httpExceptionHandler(error, websocket);
      }
      if (error instanceof RequestValidationError) return requestValidationExceptionHandler(error, websocket);
    } catch (unsendable) {
      this.#log(websocket, unsendable); // a header that HTTP does not allow, or a detail that JSON cannot write
      return serverErrorHandler(unsendable, false, websocket);
    }
    this.#log(websocket, error);
    return serverErrorHandler(error, false, websocket);
  }

  #log({ path, scope }: WebSocket, error: unknown): void {
    observedOf(scope)?.fail(error);
    this.#settings.logger.error({ err: error, path }, `WEBSOCKET ${path} failed: ${errorText(error)}`);
  }
}
