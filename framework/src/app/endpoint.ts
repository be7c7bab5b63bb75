import type { ASGIApp, HTTPScope, Receive, Send } from "../asgi.js";
import {
  adopt,
  type ApplicationScope,
  assertValid,
  Call,
  type CallSettings,
  closeExits,
  compileRoute,
  createFindOverride,
  createFrame,
  type DependencyOverrides,
  type FindOverride,
  type RoutePlan,
  runSteps,
  type Step,
  throwIntoExits,
} from "../dependencies.js";
import { withPlace } from "../exceptions.js";
import { type Limits, mergeLimits } from "../limits.js";
import { wrap } from "../chain.js";
import { Response, type Sender, sendJSON } from "../response.js";
import type { PathPattern } from "../path-pattern.js";
import type { AppRouteEntry, PathParams, RouteRecord, StreamFormat } from "../router.js";
import { type CompiledReturns, compileReturns } from "../schema.js";
import { trackedSend, withDraft } from "./answer.js";
import { answerError, type ErrorSettings, guard, isDisconnect, logError, sendErrorResponse } from "./errors.js";
import { HandlerTimeout, limitTime } from "./handler-timeout.js";
import { assertPoolable, endsOnDisconnect, isPooled } from "./plain-handler.js";
import type { HandlerPool, PooledCall } from "./pool.js";
import { resultJSON } from "./result.js";
import { isHandlerStream, streamFormat, streamingHandler } from "./stream.js";

/** What an endpoint needs of its App. */
export interface EndpointSettings extends ErrorSettings {
  readonly limits: Readonly<Limits>;
  /** Where plain handlers run. */
  readonly pool: HandlerPool;
  /** The values of scope `"app"`. */
  readonly application: ApplicationScope;
}

/** The key under which a mounting App hands its overrides on. */
export const OVERRIDES: unique symbol = Symbol("tsgi.overrides");

const RESOLVED = Promise.resolve();

/** Sends a response that is ready. */
type Sending = () => Promise<void> | void;

/** One route, compiled: from the scope to the response. */
export class Endpoint {
  readonly record: RouteRecord;
  readonly pattern: PathPattern;
  readonly plan: RoutePlan;
  /** Whether the handler is plain, and so runs in the pool. */
  readonly isPooled: boolean;
  readonly #handler: (args: object) => unknown;
  /** The same for a handler in the pool, which is told of its request; `null` for one on the loop. */
  readonly #pooled: PooledCall | null;
  readonly #returns: CompiledReturns | null;
  /** How what the handler yields is sent; `null` for one that returns its result. */
  readonly streamFormat: StreamFormat | null;
  readonly #statusCode: number;
  readonly #settings: CallSettings;
  readonly #steps: readonly Step[];
  readonly #errors: ErrorSettings;
  readonly #overrides: DependencyOverrides;
  readonly #app: ASGIApp | null;

  /** @throws ConfigurationError naming method and path. */
  constructor(entry: AppRouteEntry, settings: EndpointSettings, overrides: DependencyOverrides) {
    const { method, path, handler, options } = entry;
    const { statusCode = 200, returns = null } = options;
    this.record = Object.freeze({ method, path, handler, metadata: options });
    this.pattern = entry.pattern;
    const route = `${method} ${path}`;
    const compiled = withPlace(route, () => ({
      limits: mergeLimits(settings.limits, options.limits),
      plan: compileRoute(
        handler,
        entry.pattern.names,
        options.params ?? {},
        entry.dependencies,
        "http",
        settings.application,
      ),
      returns: returns === null ? null : compileReturns(returns),
      streamFormat: streamFormat(handler, options),
    }));
    const { limits } = compiled;
    this.plan = compiled.plan;
    this.#returns = compiled.returns;
    this.streamFormat = compiled.streamFormat;
    this.isPooled = settings.pool.isOn && isPooled(handler, options);
    if (this.isPooled) withPlace(route, () => assertPoolable(this.plan.handler.specs));
    this.#statusCode = statusCode;
    this.#overrides = overrides;
    this.#settings = {
      limits,
      logger: settings.logger,
      embedBody: this.plan.embedBody,
      faultOrder: this.plan.faultOrder,
      takesFiles: this.plan.takesFiles,
      statusCode: this.#statusCode,
    };
    const called = handler as (args: object) => unknown;
    this.#handler = this.#toHandler(called);
    const pooled = this.isPooled ? settings.pool.adopt(route, called, endsOnDisconnect(options)) : null;
    this.#pooled = pooled && limitTime(pooled, limits.handlerMs, route, settings.logger);
    this.#errors = { ...settings, handlers: [...entry.exceptionHandlers, ...settings.handlers] };
    this.#steps = this.#compileSteps();
    this.#app = entry.middleware.some((list) => list.length > 0) ? this.#wrapped(entry, settings) : null;
  }

  #toHandler(handler: (args: object) => unknown): (args: object) => unknown {
    if (this.streamFormat === null) {
      const { limits, logger } = this.#settings;
      return limitTime(handler, limits.handlerMs, `${this.record.method} ${this.record.path}`, logger);
    }
    const toText = (item: unknown) => resultJSON(this.#returns, item);
    return streamingHandler(handler, this.streamFormat, this.#statusCode, toText);
  }

  #wrapped(entry: AppRouteEntry, settings: EndpointSettings): ASGIApp {
    const innermost: ASGIApp = (scope, receive, send) =>
      this.#run(scope as HTTPScope, receive, send, (scope as { path_params?: PathParams }).path_params ?? {});
    const wrapped = entry.middleware.reduceRight<ASGIApp>((inner, list) => wrap(inner, list), innermost);
    const answer = (error: unknown, scope: HTTPScope, receive: Receive, send: Send) =>
      answerError(error, new Call(scope, receive, send, {}, this.#settings).request, settings, send);
    return guard(wrapped, answer, settings.logger) as ASGIApp;
  }

  /** Answers one request. */
  call(scope: HTTPScope, receive: Receive, send: Send, pathParams: PathParams): Promise<void> {
    if (this.#app === null) return this.#run(scope, receive, send, pathParams);
    return this.#app({ ...scope, path_params: pathParams } as HTTPScope, receive, send);
  }

  #run(scope: HTTPScope, receive: Receive, send: Send, pathParams: PathParams): Promise<void> {
    const call = new Call(scope, receive, send, pathParams, this.#settings);
    const outer = (scope as { [OVERRIDES]?: readonly DependencyOverrides[] })[OVERRIDES];
    const findOverride =
      this.#overrides.size > 0 || outer !== undefined
        ? createFindOverride([...(outer ?? []), this.#overrides], this.pattern.names)
        : null;
    const done = this.#runSteps(call, findOverride);
    return this.plan.mayHoldFiles || findOverride !== null ? this.#closeFiles(call, done) : done;
  }

  #runSteps(call: Call, findOverride: FindOverride | null): Promise<void> {
    const onError = (error: unknown) => this.#fail(call, error);
    try {
      return runSteps(this.#steps, call, createFrame(this.plan.handler, call, findOverride), onError) ?? RESOLVED;
    } catch (error) {
      return onError(error);
    }
  }

  /** Gives up the files of the request's form when everything is done: response, background tasks, clean-up. */
  async #closeFiles(call: Call, done: Promise<void>): Promise<void> {
    try {
      await done;
    } finally {
      await call.requestIfMade?.close();
    }
  }

  /** The steps from the scope to the end of the clean-up. What has nothing to do in this route is left out. */
  #compileSteps(): Step[] {
    const { steps, guards, handler } = this.plan;
    const { logger } = this.#settings;
    const handle = this.#handler;
    const pooled = this.#pooled;
    const mayExit = guards.length + handler.dependencies.length > 0;
    const all: Step["run"][] = [
      pooled === null ? (_, { args }) => adopt(handle(args)) : (call, { args }) => pooled(args, call.request),
      (call, { result }) => this.#render(call, result),
      (call, { result }) => this.#send(call, result as string | Sending),
      (call) => (call.mayFinish ? this.#afterResponse(call) : undefined),
    ];
    if (mayExit) {
      all.splice(2, 0, (call, { result }) =>
        call.exits === null ? result : closeExits(call.exits, "function", logger).then(() => result),
      );
    }
    return [...steps, ...(steps.length > 0 ? [assertValid] : []), ...all.map((run) => ({ name: null, run }))];
  }

  /** Does what of a response can fail before its head goes out: gives the JSON text, or what sends the response. */
  #render(call: Call, result: unknown): Promise<string | Sending> | string | Sending {
    if (!(result instanceof Response)) return resultJSON(this.#returns, result);
    call.response = result;
    const sender = result.prepare((call.scope as HTTPScope).method === "HEAD", call.request);
    return sender instanceof Promise
      ? sender.then((prepared) => this.#sendingOf(call, result, prepared))
      : this.#sendingOf(call, result, sender);
  }

  #sendingOf(call: Call, response: Response, sender: Sender): Sending {
    const isResult = this.streamFormat !== null && isHandlerStream(response);
    const draft = call.draftIfMade;
    if (draft && isResult) response.statusCode = draft.statusCode;
    const send = trackedSend(call);
    return () => sender(draft ? withDraft(send, draft, isResult) : send);
  }

  #send(call: Call, rendered: string | Sending): Promise<void> | void {
    if (typeof rendered !== "string") return rendered();
    const headOnly = (call.scope as HTTPScope).method === "HEAD";
    const draft = call.draftIfMade;
    if (draft) return sendJSON(withDraft(trackedSend(call), draft, true), draft.statusCode, rendered, headOnly);
    call.started = true;
    call.requestIfMade?.markFinished();
    return sendJSON(call.send, this.#statusCode, rendered, headOnly);
  }

  async #afterResponse(call: Call): Promise<void> {
    await call.backgroundIfMade?.run();
    await call.response?.background?.run();
    await call.draftIfMade?.background?.run();
    if (call.exits) await closeExits(call.exits, "request", this.#settings.logger);
  }

  async #fail(call: Call, cause: unknown): Promise<void> {
    const { logger } = this.#settings;
    const scope = call.scope as HTTPScope;
    // The handler has done its work: that its client did not wait for the end is no reason to undo it.
    if (call.started && isDisconnect(cause)) return this.#afterResponse(call);
    if (cause instanceof HandlerTimeout) call.requestIfMade?.abort(cause);
    const error = call.exits ? await throwIntoExits(call.exits, cause, logger) : cause;
    if (isDisconnect(error)) return;
    if (call.started) {
      logError(error, scope, logger);
      throw error;
    }
    call.response = await sendErrorResponse(error, call.request, this.#errors, trackedSend(call));
    await this.#afterResponse(call);
  }
}
