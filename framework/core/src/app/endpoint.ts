/** HTTP routes: dependencies, handler, result, response and cleanup of each request. @module */
import type { ASGIApp, HTTPScope, Receive } from "../protocol/asgi.js";
import type { ApplicationScope } from "../parameters/dependencies/application.js";
import type { Call, CallSettings } from "../parameters/dependencies/call.js";
import { functionOf } from "../parameters/depends.js";
import { compileRoute } from "../parameters/dependencies/compile.js";
import type { DependencyOverrides } from "../parameters/dependencies/overrides.js";
import { nameOf, type RoutePlan } from "../parameters/dependencies/plan.js";
import { withPlace } from "../common/exceptions.js";
import { type Limits, mergeLimits } from "../http/limits.js";
import { type Middleware, wrap } from "../middleware/chain.js";
import { Request } from "../http/request.js";
import { type MarkedState, WHEN_STOPPING, type WhenStopping } from "../protocol/server-context.js";
import { stepped } from "../middleware/observation/observed.js";
import type { ResponseDocs } from "../parameters/annotation.js";
import type { PathPattern } from "../routing/path-pattern.js";
import { type AppRouteEntry, type RouteHandler, routeNameOf, type RouteRecord } from "../routing/entries.js";
import type { StreamFormat } from "../routing/options.js";
import { assertTaggable } from "./entity-tag.js";
import { type ErrorSettings, guard } from "./errors.js";
import { limitHandler } from "./handler-timeout.js";
import { assertNotTransactional, transactionalHandler } from "./transactions.js";
import { assertPoolable, endsOnDisconnect, type HandlerPool, isPooled } from "./pool-rules.js";
import { compileResult, streamingHandler, type ToStream } from "./stream.js";
import { RouteLife } from "./life.js";

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
  readonly #toStream: ToStream | null;
  /** The format of yielded items; `null` for a handler that returns its result. */
  readonly streamFormat: StreamFormat | null;
  /** The settings of its calls. */
  readonly settings: CallSettings;
  /** The exception handlers of the route, its routers and its App. */
  readonly errors: ErrorSettings;
  readonly overrides: DependencyOverrides;
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
    this.#toStream = compiled.toStream;
    this.streamFormat = compiled.format;
    this.isPooled = settings.pool.isOn && isPooled(handler, options);
    if (this.isPooled) withPlace(route, () => assertPoolable(this.plan.handler.specs));
    withPlace(route, () => assertTaggable(method, options, compiled.format));
    this.overrides = overrides;
    this.#middleware = () => [...entry.middleware.flat(), ...settings.appMiddleware()];
    this.settings = {
      limits,
      logger: settings.logger,
      embedBody: this.plan.embedBody,
      faultOrder: this.plan.faultOrder,
      takesFiles: this.plan.takesFiles,
      statusCode,
      mayHoldTransactions: this.#toStream === null,
    };
    if (this.#toStream !== null) withPlace(route, () => assertNotTransactional(this.plan, "a stream"));
    this.errors = { ...settings, handlers: [...entry.exceptionHandlers, ...settings.handlers] };
    const handle = this.isPooled ? this.#inPool(handler, settings.pool) : this.#onLoop(handler);
    const life = new RouteLife({
      ...compiled,
      handle: this.plan.transactional === null ? handle : transactionalHandler(handle),
      hasTag: options.etag === true,
      settings: this.settings,
      errors: this.errors,
      overrides,
      pattern: this.pattern,
    });
    const { whenStopping } = options;
    const app = this.#wrap(life.run, entry.middleware, settings);
    this.app = whenStopping === undefined ? app : stoppedAs(whenStopping, app);
  }

  /** All middleware around the route, including the App's, for the OpenAPI document. */
  get middleware(): readonly Middleware[] {
    return this.#middleware();
  }

  #inPool(handler: RouteHandler, pool: HandlerPool): (args: object, call: Call) => unknown {
    const { method, path, metadata } = this.record;
    const { limits, logger } = this.settings;
    const pooled = pool.adopt(`${method} ${path}`, functionOf(handler), endsOnDisconnect(metadata));
    const limited = limitHandler(pooled, limits.handlerMs, { route: `${method} ${path}`, logger });
    return (args, call) =>
      call.observed === null
        ? limited(args, call.request)
        : stepped(call.observed, "pool", nameOf(this.plan.handler), () => limited(args, call.request));
  }

  #onLoop(handler: RouteHandler): (args: object) => unknown {
    const { method, path } = this.record;
    const { limits, logger } = this.settings;
    const called = functionOf(handler);
    const responding = this.#toStream === null ? called : streamingHandler(called, this.#toStream);
    return limitHandler(responding, limits.handlerMs, { route: `${method} ${path}`, logger });
  }

  #wrap(app: ASGIApp, middleware: AppRouteEntry["middleware"], settings: EndpointSettings): ASGIApp {
    if (middleware.every((list) => list.length === 0)) return app;
    const wrapped = middleware.reduceRight<ASGIApp>((inner, list) => wrap(inner, list), app);
    const requestOf = (scope: HTTPScope, receive: Receive) => new Request(scope, receive, settings.limits);
    return guard(wrapped, requestOf, settings) as ASGIApp;
  }
}
