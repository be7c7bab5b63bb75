/** HTTP routes: dependencies, handler, result, response and cleanup of each request. @module */
import type { ASGIApp, HTTPScope, Receive, Send } from "../protocol/asgi.js";
import { createBytes } from "../protocol/bytes.js";
import { adopt, makeArguments, validationError } from "../parameters/dependencies/arguments.js";
import type { ApplicationScope } from "../parameters/dependencies/application.js";
import { Call, type CallSettings } from "../parameters/dependencies/call.js";
import { closeExits, throwIntoExits } from "../parameters/dependencies/exits.js";
import { compileRoute } from "../parameters/dependencies/compile.js";
import { createFindOverride, type DependencyOverrides } from "../parameters/dependencies/overrides.js";
import {
  type CallablePlan,
  type DependencyPlan,
  type DependencyStep,
  type FindOverride,
  nameOf,
  type RoutePlan,
} from "../parameters/dependencies/plan.js";
import { timeoutReason } from "../common/promises.js";
import { withPlace } from "../common/exceptions.js";
import { type Limits, mergeLimits } from "../http/limits.js";
import { type Middleware, wrap } from "../middleware/chain.js";
import { END } from "../http/background.js";
import { ABORT, HAS_FILES, Request } from "../http/request.js";
import { responseOf } from "../http/response/web.js";
import { PREPARE, type Response, type Sender } from "../http/response/response.js";
import { responseFacts } from "../protocol/response.js";
import { finishAfterCut, type MarkedState, WHEN_STOPPING, type WhenStopping } from "../protocol/server-context.js";
import { reportLateWork } from "../middleware/layer.js";
import { type Observed, stepped } from "../middleware/observation/observed.js";
import { INVALID, SourceMarker } from "../parameters/source.js";
import type { ResponseDocs } from "../parameters/annotation.js";
import type { PathPattern } from "../routing/path-pattern.js";
import { type AppRouteEntry, type RouteHandler, routeNameOf, type RouteRecord } from "../routing/entries.js";
import type { StreamFormat } from "../routing/options.js";
import type { CompiledReturns } from "../schema/schema.js";
import { assertTaggable, sendTagged } from "./entity-tag.js";
import { resultJSON, resultText, sendJSON, withDraft } from "./result.js";
import { type ErrorSettings, guard, logError, prepareResponse, sendUnlessGone } from "./errors.js";
import { HandlerTimeout, limitHandler } from "./handler-timeout.js";
import { assertNotSettling, settlingHandler, takeResponse, undoSettlements } from "./settle.js";
import type { HandlerPool } from "./pool.js";
import { assertPoolable, endsOnDisconnect, isPooled } from "./pool-rules.js";
import { compileResult, isHandlerStream, streamingHandler, type ToStream } from "./stream.js";
import { dependencyStep } from "../parameters/dependencies/run-dependency.js";

const plans = new WeakMap<RoutePlan, CallablePlan>();

/**
 * Compiles the parts of a route that decide about the caller before the request is read: guards, and dependencies of
 * the handler that read credentials. One that reads the path, the query or a body decides on the single request, and is
 * left out.
 */
function compileAccess(plan: RoutePlan): CallablePlan {
  const known = plans.get(plan);
  if (known) return known;
  const asking = plan.handler.dependencies.filter((step) => takesCredentials(step.plan, step));
  const steps = [...plan.guards, ...asking].filter((step) => !readsRequest(step.plan));
  const nameless = steps.map((step) => ({ ...dependencyStep(step), name: null }));
  const compiled = { ...plan.handler, pathTexts: [], needsNullPrototype: false, steps: nameless };
  plans.set(plan, compiled);
  return compiled;
}

function takesCredentials(plan: DependencyPlan, { scopes }: Pick<DependencyStep, "scopes">): boolean {
  if (scopes.length > 0 || plan.takesCredentials) return true;
  return plan.dependencies.some((step) => takesCredentials(step.plan, step));
}

function readsRequest({ specs, dependencies }: DependencyPlan): boolean {
  const reads = specs.some(({ marker }) => {
    if (!(marker instanceof SourceMarker)) return false;
    const { body, in: place } = marker.source;
    return body !== null || place === "path" || (place === "query" && marker.options.includeInSchema !== false);
  });
  return reads || dependencies.some((step) => readsRequest(step.plan));
}

/** The parts of an App that an endpoint uses. */
export interface EndpointSettings extends ErrorSettings {
  readonly limits: Readonly<Limits>;
  /** The pool of plain handlers. */
  readonly pool: HandlerPool;
  /** The values of scope `"app"`. */
  readonly application: ApplicationScope;
  /** Returns the middleware of the App. */
  readonly appMiddleware: () => readonly Middleware[];
}

/** The key under which a mounting App hands its overrides on. */
export const OVERRIDES: unique symbol = Symbol("tsgi.overrides");

/** A scope that a mounting App has handed on. */
export interface MountedScope {
  [OVERRIDES]?: readonly DependencyOverrides[];
}

const EMPTY_BODY: Receive = async () => ({ type: "http.request", body: createBytes(0), more_body: false });
const NOWHERE: Send = () => Promise.resolve();

/** The `send` of a call as a function. */
function sendOf(to: Pick<Call, "send">): Send {
  return (message) => to.send(message);
}

/** Sends a response that is ready. */
type Sending = (send: Send) => Promise<void> | void;

/** The JSON text of a result, or what sends it. */
type Rendered = Promise<string | Sending> | string | Sending;

/** Tells the server what becomes of a response when it stops. */
function stoppedAs(whenStopping: WhenStopping, app: ASGIApp): ASGIApp {
  return (scope, receive, send) => {
    const state: MarkedState = (scope.state ??= {});
    state[WHEN_STOPPING] = whenStopping;
    return app(scope, receive, send);
  };
}

/** One route, compiled: from the scope to the response. */
export class Endpoint {
  readonly record: RouteRecord;
  readonly pattern: PathPattern;
  readonly plan: RoutePlan;
  /** The responses that the route, its routers and its App declare, innermost first. */
  readonly responses: readonly ResponseDocs[];
  /** `true` for a plain handler, which runs in the pool. */
  readonly isPooled: boolean;
  /** Sends requests through the middleware of the route and its routers to the handler. */
  readonly app: ASGIApp;
  readonly #handle: (args: object, call: Call) => unknown;
  readonly #returns: CompiledReturns | null;
  readonly #toStream: ToStream | null;
  /** The format of yielded items; `null` for a handler that returns its result. */
  readonly streamFormat: StreamFormat | null;
  readonly #statusCode: number;
  readonly #isBodyless: boolean;
  readonly #settings: CallSettings;
  readonly #errors: ErrorSettings;
  /** `true` for the route option `etag`. */
  readonly #hasTag: boolean;
  readonly #overrides: DependencyOverrides;
  readonly #middleware: () => readonly Middleware[];

  /** @throws ConfigurationError naming method and path. */
  constructor(entry: AppRouteEntry, settings: EndpointSettings, overrides: DependencyOverrides) {
    const { method, path, handler, options } = entry;
    const { statusCode = 200 } = options;
    this.record = Object.freeze({ method, path, handler, metadata: options });
    this.pattern = entry.pattern;
    this.responses = entry.responses;
    const route = `${method} ${path}`;
    const compiled = withPlace(route, () => ({
      limits: mergeLimits(settings.limits, options.limits),
      plan: compileRoute({
        handler,
        role: routeNameOf(this.record),
        names: entry.pattern.names,
        params: options.params ?? {},
        guards: entry.dependencies,
        protocol: "http",
        application: settings.application,
      }),
      ...compileResult(handler, options),
    }));
    const { limits } = compiled;
    this.plan = compiled.plan;
    this.#returns = compiled.returns;
    this.#toStream = compiled.toStream;
    this.streamFormat = compiled.format;
    this.isPooled = settings.pool.isOn && isPooled(handler, options);
    if (this.isPooled) withPlace(route, () => assertPoolable(this.plan.handler.specs));
    this.#statusCode = statusCode;
    this.#isBodyless = responseFacts(statusCode, "GET").bodyless;
    this.#hasTag = options.etag === true;
    withPlace(route, () => assertTaggable(method, options, compiled.format));
    this.#overrides = overrides;
    this.#middleware = () => [...entry.middleware.flat(), ...settings.appMiddleware()];
    this.#settings = {
      limits,
      logger: settings.logger,
      embedBody: this.plan.embedBody,
      faultOrder: this.plan.faultOrder,
      takesFiles: this.plan.takesFiles,
      statusCode: this.#statusCode,
      settles: this.#toStream === null,
    };
    const handle = this.isPooled ? this.#inPool(handler, settings.pool) : this.#onLoop(handler);
    this.#handle = this.plan.settling === null ? handle : settlingHandler(handle);
    if (this.#toStream !== null) withPlace(route, () => assertNotSettling(this.plan, "a stream"));
    this.#errors = { ...settings, handlers: [...entry.exceptionHandlers, ...settings.handlers] };
    const { whenStopping } = options;
    const app = this.#wrap(entry.middleware, settings);
    this.app = whenStopping === undefined ? app : stoppedAs(whenStopping, app);
  }

  /** All middleware around the route, including the App's, for the OpenAPI document. */
  get middleware(): readonly Middleware[] {
    return this.#middleware();
  }

  #inPool(handler: RouteHandler, pool: HandlerPool): (args: object, call: Call) => unknown {
    const { method, path, metadata } = this.record;
    const { limits, logger } = this.#settings;
    const pooled = pool.adopt(`${method} ${path}`, handler as (args: object) => unknown, endsOnDisconnect(metadata));
    const limited = limitHandler(pooled, limits.handlerMs, { route: `${method} ${path}`, logger });
    return (args, call) =>
      call.observed === null
        ? limited(args, call.request)
        : stepped(call.observed, "pool", nameOf(this.plan.handler), () => limited(args, call.request));
  }

  #onLoop(handler: RouteHandler): (args: object) => unknown {
    const { method, path } = this.record;
    const { limits, logger } = this.#settings;
    const called = handler as (args: object) => unknown;
    const responding = this.#toStream === null ? called : streamingHandler(called, this.#toStream);
    return limitHandler(responding, limits.handlerMs, { route: `${method} ${path}`, logger });
  }

  #wrap(middleware: AppRouteEntry["middleware"], settings: EndpointSettings): ASGIApp {
    if (middleware.every((list) => list.length === 0)) return this.#run;
    const wrapped = middleware.reduceRight<ASGIApp>((inner, list) => wrap(inner, list), this.#run);
    const requestOf = (scope: HTTPScope, receive: Receive) => new Request(scope, receive, settings.limits);
    return guard(wrapped, requestOf, settings) as ASGIApp;
  }

  /** Looks up overrides of this App and of the Apps that mount it. */
  #findOverride({ [OVERRIDES]: outer }: HTTPScope & MountedScope): FindOverride | null {
    if (outer === undefined && this.#overrides.size === 0) return null;
    return createFindOverride([...(outer ?? []), this.#overrides], this.pattern.names);
  }

  /**
   * Returns the status with which the route would reject a caller for any request; `null` if it accepts the caller.
   * Runs the guards, and the dependencies that take credentials, but neither middleware nor the handler.
   *
   * @param scope - Of any request of the caller: its headers count.
   */
  async refusalOf(scope: HTTPScope): Promise<number | null> {
    const own = { ...scope, method: this.record.method, path: this.pattern.template, path_params: {} };
    const call = new Call(own, EMPTY_BODY, NOWHERE, this.#settings);
    const { logger } = this.#settings;
    try {
      await makeArguments(compileAccess(this.plan), call, this.#findOverride(scope));
      await call.closeFunctionScope(undoSettlements);
      if (call.exits !== null) await closeExits(call.exits, "request", logger);
      return null;
    } catch (cause) {
      const error = call.exits === null ? cause : await throwIntoExits(call.exits, cause, logger);
      const { response, sender } = await prepareResponse(error, call.request, this.#errors);
      await sender.cancel?.();
      return response.statusCode;
    } finally {
      await call.lateSettled();
      await call.requestIfMade?.close();
    }
  }

  /** Responds to one request, from the arguments of the handler to the end of the cleanup. */
  readonly #run: ASGIApp = async (given, receive, send) => {
    const scope = given as HTTPScope;
    const call = new Call(scope, receive, send, this.#settings);
    try {
      const made = makeArguments(this.plan.handler, call, this.#findOverride(scope));
      const args = made instanceof Promise ? await made : made;
      if (args === INVALID) throw validationError(call);
      const result = await (call.observed === null ? this.#handle(args, call) : this.#observedHandle(args, call));
      const rendered = this.#render(call, result);
      const content = rendered instanceof Promise ? await rendered : rendered;
      const ready = call.exits === null ? content : await this.#settle(call, content);
      const sent = this.#send(call, ready, call);
      if (sent instanceof Promise) await sent;
      if (call.hasWorkAfterResponse) await this.#afterResponse(call);
    } catch (error) {
      await this.#fail(call, error);
    }
  };

  #observedHandle(args: object, call: Call): unknown {
    const name = nameOf(this.plan.handler);
    return stepped(call.observed as Observed, "handler", name, () => adopt(this.#handle(args, call)));
  }

  /** Items that are yielded are made while they are sent: then sending is the step. */
  #observedRender(call: Call, result: unknown, observed: Observed): Rendered {
    const step = <Result>(fn: () => Result) => stepped(observed, "serialization", nameOf(this.plan.handler), fn);
    if (this.streamFormat === null) return step(() => this.#render(call, result, null));
    const rendered = this.#render(call, result, null) as Promise<Sending> | Sending;
    const stepping =
      (sending: Sending): Sending =>
      (send) =>
        step(() => sending(send));
    return rendered instanceof Promise ? rendered.then(stepping) : stepping(rendered);
  }

  /**
   * Runs the parts of a response that can fail before its head is sent: returns the JSON text, or a function that sends
   * the response.
   */
  #render(call: Call, result: unknown, observed = call.observed): Rendered {
    if (observed !== null) return this.#observedRender(call, result, observed);
    const isData =
      typeof result !== "object" || result === null || result.constructor === Object || Array.isArray(result);
    const response = isData ? null : responseOf(result);
    if (response !== null) return this.#prepare(call, response);
    return this.#returns === null ? resultText(result) : resultJSON(this.#returns, result);
  }

  #prepare(call: Call, response: Response): Promise<Sending> | Sending {
    call.response = response;
    const sender = response[PREPARE]((call.scope as HTTPScope).method === "HEAD", call.request);
    return sender instanceof Promise
      ? sender.then((prepared) => this.#sendingOf(call, response, prepared))
      : this.#sendingOf(call, response, sender);
  }

  #sendingOf(call: Call, response: Response, sender: Sender): Sending {
    const isResult = this.streamFormat !== null && isHandlerStream(response);
    const draft = call.draftIfMade;
    if (draft && isResult) response.statusCode = draft.statusCode;
    call.sender = sender;
    return (send) => sender(draft ? withDraft(send, draft, isResult) : send);
  }

  /** Cleans up and settles. Gives the response to send: the one that a settlement has stored, if any has. */
  async #settle(call: Call, content: string | Sending): Promise<string | Sending> {
    let ready = content;
    await call.closeFunctionScope(async (exits) => {
      const taken = await takeResponse(exits, (send) => this.#send(call, content, { scope: call.scope, send }));
      if (taken !== null) ready = taken;
      await closeExits(exits, "settlement", this.#settings.logger);
    });
    return ready;
  }

  #send(call: Call, rendered: string | Sending, to: Pick<Call, "scope" | "send">): Promise<void> | void {
    if (typeof rendered !== "string") return rendered(sendOf(to));
    const draft = call.draftIfMade;
    if (this.#hasTag) {
      const scope = call.scope as HTTPScope;
      const status = draft?.statusCode ?? this.#statusCode;
      return sendTagged({ scope, send: sendOf(to), request: call.request, status, text: rendered, draft });
    }
    if (draft === null) return sendJSON(to, this.#statusCode, rendered, this.#isBodyless);
    const { statusCode } = draft;
    const { bodyless } = responseFacts(statusCode, "GET");
    const send = withDraft(sendOf(to), draft, true);
    return sendJSON({ scope: call.scope, send }, statusCode, rendered, bodyless);
  }

  /** Never rejects. */
  async #afterResponse(call: Call): Promise<void> {
    await call.runTasks();
    if (call.exits !== null) await closeExits(call.exits, "request", this.#settings.logger);
    await call.lateSettled();
    await call.runTasks(); // the ones that were added meanwhile
    call.backgroundIfMade?.[END]();
    if (call.requestIfMade?.[HAS_FILES]) await call.requestIfMade.close();
  }

  async #fail(call: Call, cause: unknown): Promise<void> {
    const { logger } = this.#settings;
    const scope = call.scope as HTTPScope;
    // The handler has done its work: it is not undone because its client did not wait for the end.
    if (call.started && call.isDisconnect(cause)) return this.#afterResponse(call);
    if (cause instanceof HandlerTimeout) {
      call.requestIfMade?.[ABORT](timeoutReason());
      reportLateWork(scope, cause.ended);
    }
    const error = call.exits ? await throwIntoExits(call.exits, cause, logger) : cause;
    if (call.isDisconnect(error)) return this.#afterResponse(call);
    if (call.started) return this.#abandon(call, error);
    const { response, sender } = await prepareResponse(error, call.request, this.#errors);
    call.response = response;
    try {
      await sendUnlessGone(sender, sendOf(call));
    } catch (failure) {
      return this.#abandon(call, failure);
    }
    await this.#afterResponse(call);
  }

  /** Gives up a response in its middle: the server cuts it, and then waits for the tasks. */
  #abandon(call: Call, error: unknown): never {
    const scope = call.scope as HTTPScope;
    logError(error, scope, this.#settings.logger);
    if (call.hasWorkAfterFailure) finishAfterCut(scope, this.#afterResponse(call));
    throw error;
  }
}
