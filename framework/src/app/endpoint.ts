import type { ASGIApp, HTTPScope, Receive, Send } from "../asgi.js";
import {
  Call,
  type CallSettings,
  closeExits,
  compileRoute,
  createFindOverride,
  type DependencyOverrides,
  acceptArguments,
  type RoutePlan,
  type Solved,
  readEarly,
  readLate,
  solveRoute,
  throwIntoExits,
} from "../dependencies.js";
import { ConfigurationError } from "../exceptions.js";
import { type Limits, mergeLimits } from "../limits.js";
import { wrap } from "../chain.js";
import { Response, sendJSON } from "../response.js";
import type { PathPattern } from "../path-pattern.js";
import type { AppRouteEntry, Handler, PathParams, RouteOptions, StreamFormat } from "../router.js";
import { type CompiledReturns, compileReturns, isStandardSchema } from "../schema.js";
import { sendResult, trackedSend, withDraft } from "./answer.js";
import { answerError, type ErrorSettings, guard, isDisconnect, logError, sendErrorResponse } from "./errors.js";
import { HandlerTimeout, limitTime } from "./handler-timeout.js";
import { assertPoolable, endsOnDisconnect, isPooled } from "./plain-handler.js";
import type { HandlerPool, PooledCall } from "./pool.js";
import { checkResult, resultJSON, resultText } from "./result.js";
import { isHandlerStream, streamFormat, streamingHandler } from "./stream.js";

/** A registered route, as `app.routes` lists it. */
export interface RouteRecord {
  /** In upper case. */
  readonly method: string;
  /** The whole pattern. */
  readonly path: string;
  readonly handler: Handler;
  /** The options, with what the routers around the route add. */
  readonly metadata: RouteOptions;
}

/** What an endpoint needs of its App. */
export interface EndpointSettings extends ErrorSettings {
  readonly limits: Readonly<Limits>;
  /** Where plain handlers run. */
  readonly pool: HandlerPool;
}

/** The key under which a mounting App hands its overrides on. */
export const OVERRIDES: unique symbol = Symbol("tsgi.overrides");

const RESOLVED = Promise.resolve();

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
  /** A Standard Schema may check asynchronously. */
  readonly #mayReturnsSuspend: boolean;
  readonly #statusCode: number;
  readonly #settings: CallSettings;
  readonly #errors: ErrorSettings;
  readonly #overrides: DependencyOverrides;
  readonly #app: ASGIApp | null;

  /** @throws ConfigurationError naming method and path. */
  constructor(entry: AppRouteEntry, settings: EndpointSettings, overrides: DependencyOverrides) {
    const { method, path, handler, options } = entry;
    const { statusCode = 200, returns = null } = options;
    this.record = Object.freeze({ method, path, handler, metadata: options });
    this.pattern = entry.pattern;
    let limits: Readonly<Limits>;
    try {
      limits = mergeLimits(settings.limits, options.limits);
      this.plan = compileRoute(handler, entry.pattern.names, options.params ?? {}, entry.dependencies, "http");
      this.#returns = returns === null ? null : compileReturns(returns);
      this.streamFormat = streamFormat(handler, options);
      this.isPooled = settings.pool.isOn && isPooled(handler, options);
      if (this.isPooled) assertPoolable(this.plan.handler.specs);
    } catch (error) {
      if (error instanceof ConfigurationError) error.message = `${method} ${path}: ${error.message}`;
      throw error;
    }
    this.#mayReturnsSuspend = isStandardSchema(returns);
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
    const route = `${method} ${path}`;
    const pooled = this.isPooled ? settings.pool.adopt(route, called, endsOnDisconnect(options)) : null;
    this.#pooled = pooled && limitTime(pooled, limits.handlerMs, route, settings.logger);
    this.#errors = { ...settings, handlers: [...entry.exceptionHandlers, ...settings.handlers] };
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
    if (this.plan.isPlain && !this.isPooled) return this.#runPlain(scope, receive, send, pathParams);
    const call = new Call(scope, receive, send, pathParams, this.#settings);
    const outer = (scope as { [OVERRIDES]?: readonly DependencyOverrides[] })[OVERRIDES];
    if (this.#overrides.size > 0 || outer !== undefined) {
      call.findOverride = createFindOverride([...(outer ?? []), this.#overrides], this.pattern.names);
    }
    const done = this.#answer(call);
    return this.plan.mayHoldFiles || call.findOverride !== null ? this.#closeFiles(call, done) : done;
  }

  /** Gives up the files of the request's form when everything is done: response, background tasks, clean-up. */
  async #closeFiles(call: Call, done: Promise<void>): Promise<void> {
    try {
      await done;
    } finally {
      await call.requestIfMade?.close();
    }
  }

  #answer(call: Call): Promise<void> {
    try {
      if (this.plan.isBodyOnly) return this.#runWithBody(call);
      const solved = solveRoute(this.plan, call);
      if (solved instanceof Promise) return this.#runLater(call, solved);
      const result = this.#call(acceptArguments(solved, call), call);
      if (result instanceof Promise) {
        return result.then(
          (value) => this.#finish(call, value),
          (error: unknown) => this.#fail(call, error),
        );
      }
      return this.#finish(call, result) ?? RESOLVED;
    } catch (error) {
      return this.#fail(call, error);
    }
  }

  #call(args: object, call: Call): unknown {
    if (this.#pooled !== null) return this.#pooled(args, call.request);
    const handler = this.#handler;
    return handler(args);
  }

  async #runWithBody(call: Call): Promise<void> {
    let result: unknown;
    try {
      const early = readEarly(this.plan.handler, call);
      const args = early instanceof Promise ? await early : early;
      const rest = call.mayTakeFirst ? call.takeFirst(await call.receive()) : call.load("json");
      if (rest !== null) await rest;
      const late = readLate(this.plan.handler, call, args);
      if (late !== null) await late;
      result = this.#call(acceptArguments(args, call), call);
      if (result instanceof Promise) result = await result;
    } catch (error) {
      return this.#fail(call, error);
    }
    const sent = this.#finish(call, result);
    if (sent) await sent;
  }

  async #runLater(call: Call, solving: Promise<Solved>): Promise<void> {
    let result: unknown;
    try {
      result = await this.#call(acceptArguments(await solving, call), call);
    } catch (error) {
      return this.#fail(call, error);
    }
    const sent = this.#finish(call, result);
    if (sent) await sent;
  }

  /** The handler asks for nothing but names of its pattern: the router has made its arguments, and no `Call` is needed. */
  #runPlain(scope: HTTPScope, receive: Receive, send: Send, pathParams: PathParams): Promise<void> {
    const toCall = () => new Call(scope, receive, send, pathParams, this.#settings);
    const fail = (error: unknown) => this.#fail(toCall(), error);
    const finish = (value: unknown): Promise<void> | void => {
      let text: string | null;
      try {
        text = this.#toText(value);
      } catch (error) {
        return fail(error);
      }
      if (text === null) return this.#finishSlowly(toCall(), value);
      return sendResult(send, this.#statusCode, text, scope.method === "HEAD");
    };
    try {
      const handler = this.#handler;
      const result = handler(this.pattern.names.length === 0 ? {} : pathParams);
      return result instanceof Promise ? result.then(finish, fail) : (finish(result) ?? RESOLVED);
    } catch (error) {
      return fail(error);
    }
  }

  /** JSON text of a result, or `null` for one that takes more: a `Response`, a promise, a schema that may suspend. */
  #toText(result: unknown): string | null {
    if (typeof result === "object" && result !== null && (result instanceof Response || "then" in result)) return null;
    if (this.#returns === null) return resultText(result, false);
    return this.#mayReturnsSuspend ? null : resultText(checkResult(this.#returns, result), true);
  }

  /** Sends a result. Without a promise where nothing takes time. */
  #finish(call: Call, result: unknown): Promise<void> | void {
    if (call.exits !== null || call.draftIfMade !== null || call.backgroundIfMade !== null) {
      return this.#finishSlowly(call, result);
    }
    let text: string | null;
    try {
      text = this.#toText(result);
    } catch (error) {
      return this.#fail(call, error);
    }
    if (text === null) return this.#finishSlowly(call, result);
    call.started = true;
    call.requestIfMade?.markFinished();
    return sendResult(call.send, this.#statusCode, text, (call.scope as HTTPScope).method === "HEAD");
  }

  async #finishSlowly(call: Call, pending: unknown): Promise<void> {
    let response: Response | null = null;
    try {
      const result = await pending;
      if (result instanceof Response) response = result;
      const send = response ? await this.#prepare(call, response) : await this.#prepareJSON(call, result);
      if (call.exits) await closeExits(call.exits, "function", this.#settings.logger);
      await send();
    } catch (error) {
      // The handler has done its work: that its client did not wait for the end is no reason to undo it.
      if (!(call.started && isDisconnect(error))) return this.#fail(call, error);
    }
    await this.#afterResponse(call, response);
  }

  /** Does what of a response can fail before its head goes out, and gives what sends it. */
  async #prepare(call: Call, response: Response): Promise<() => Promise<void> | void> {
    const sender = await response.prepare((call.scope as HTTPScope).method === "HEAD", call.request);
    const isResult = this.streamFormat !== null && isHandlerStream(response);
    const draft = call.draftIfMade;
    if (draft && isResult) response.statusCode = draft.statusCode;
    const send = trackedSend(call);
    return () => sender(draft ? withDraft(send, draft, isResult) : send);
  }

  async #prepareJSON(call: Call, result: unknown): Promise<() => Promise<void> | void> {
    const text = await resultJSON(this.#returns, result);
    const headOnly = (call.scope as HTTPScope).method === "HEAD";
    const draft = call.draftIfMade;
    const send = trackedSend(call);
    return draft
      ? () => sendJSON(withDraft(send, draft, true), draft.statusCode, text, headOnly)
      : () => sendJSON(send, this.#statusCode, text, headOnly);
  }

  async #afterResponse(call: Call, response: Response | null): Promise<void> {
    await call.backgroundIfMade?.run();
    await response?.background?.run();
    await call.draftIfMade?.background?.run();
    if (call.exits) await closeExits(call.exits, "request", this.#settings.logger);
  }

  async #fail(call: Call, cause: unknown): Promise<void> {
    const { logger } = this.#settings;
    const scope = call.scope as HTTPScope;
    if (cause instanceof HandlerTimeout) call.requestIfMade?.abort(cause);
    const error = call.exits ? await throwIntoExits(call.exits, cause, logger) : cause;
    if (isDisconnect(error)) return;
    if (call.started) {
      logError(error, scope, logger);
      throw error;
    }
    const response = await sendErrorResponse(error, call.request, this.#errors, trackedSend(call));
    await this.#afterResponse(call, response);
  }
}
