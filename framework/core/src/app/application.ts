/** The application: registration on one side, one ASGI callable on the other. @module */
import { Dispatcher } from "./dispatcher.js";
import { Endpoint, type EndpointSettings } from "./endpoint.js";
import { AppLifespan, assertHook, type LifespanFunction, type LifespanHook, type Startable } from "./lifespan.js";
import type { HandlerPool, HandlerPoolOptions } from "./pool-rules.js";
import { type LoadShedder, SHED_OPTIONS, type ShedOptions } from "./shed-options.js";
import type { AppParts } from "./parts.js";
import { SocketEndpoint } from "./socket-endpoint.js";
import type { ASGIApp, Receive, Scope, Send } from "../protocol/asgi.js";
import { CallableInstance } from "../protocol/callable.js";
import { type ClosableFetchHandler, toFetchHandler } from "../platforms/web/to-fetch-handler.js";
import { type AddedMiddleware, type Middleware, wrap } from "../middleware/chain.js";
import { type APIKeyPlace, keepAPIKeyPlaces } from "../middleware/idempotency/caller.js";
import type { PoolStats } from "../platforms/concurrency/worker-pool.js";
import { ApplicationScope } from "../parameters/dependencies/application.js";
import { DependencyOverrides } from "../parameters/dependencies/overrides.js";
import type { RoutePlan } from "../parameters/dependencies/plan.js";
import { apiKeyPlaceOf } from "../parameters/security/scheme.js";
import {
  type CheckKey,
  type ExceptionHandler,
  ExceptionHandlers,
  type ExceptionHandlersInit,
  type ExceptionKey,
  type KeyedHandler,
} from "../http/exception-handlers.js";
import { PROBLEM_FORMAT } from "../http/problem-details.js";
import { ERROR_WRITER, ErrorWriter, type Translate } from "../protocol/error-format.js";
import { configurationError } from "../common/exceptions.js";
import { DEFAULT_LIMITS, type Limits, LIMITS, mergeLimits } from "../http/limits.js";
import { consoleLogger, guardLogger, keepLogger, type Logger } from "../common/logger.js";
import type { Instrumentation } from "../middleware/observation/types.js";
import { Documentation } from "../openapi/documentation.js";
import { OPENAPI_OPTIONS, type OpenAPIOptions } from "../openapi/document.js";
import type { OpenAPIDocument } from "../openapi/types.js";
import type { Webhooks } from "../openapi/webhooks.js";
import { isFirstProcess } from "../common/platform.js";
import {
  ANYTHING,
  assertOptions,
  expecting,
  FLAG,
  FUNCTION,
  group,
  isObject,
  LIST,
  OBJECT,
  type OptionRules,
} from "../common/options.js";
import type { Marker } from "../parameters/marker.js";
import type { PathValues } from "../protocol/path.js";
import { PathPattern } from "../routing/path-pattern.js";
import type { AppDelete, AppGet, AppPatch, AppPost, AppPut } from "../routing/common-verbs.js";
import type { Around, PATHS, Paths } from "../routing/owner.js";
import { type IncludeOptions, MIDDLEWARE_LIST } from "../routing/options.js";
import {
  addMountLevel,
  type LifespanEntry,
  type MountEntry,
  type RouteEntry,
  type RouteRecord,
} from "../routing/entries.js";
import type { MultiVerb, SocketVerb, Verb } from "../routing/verbs.js";
import type { ResponseDocs } from "../parameters/annotation.js";
import { Router, type RouterModule, SUBSCRIBE, WEBSOCKET } from "../routing/router.js";
import { nearest } from "../common/messages.js";

/** The options of an `App`. */
export interface AppOptions<Responses extends ResponseDocs = ResponseDocs> extends OpenAPIOptions {
  /** Puts the error into the body of a 500. Never in production. Defaults to `false`. */
  debug?: boolean;
  /** Startup and shutdown in one generator, instead of or in addition to the hooks. */
  lifespan?: LifespanFunction<Application>;
  /** Limits for each request; each has a default. */
  limits?: Partial<Limits>;
  /** The pool of plain handlers. Defaults to a pool of `os.availableParallelism()` processes, shared by `workers`. */
  pool?: HandlerPoolOptions;
  /**
   * The module that makes the App, for the pool's workers to import: `import.meta.url`. Defaults to the module that
   * `tsgi run` or `tsgi dev` was given, else to the program's main module.
   */
  entry?: string | URL;
  /**
   * Rejects requests with 503 and `Retry-After` while the event loop is late, so that those that are served stay fast.
   * For Node, Bun and Deno: other platforms do not have such a loop, and the option is an error there.
   */
  shed?: ShedOptions;
  /** The log of the framework. Defaults to readable lines on the standard error output. */
  logger?: Logger;
  /**
   * Further responses of every route, by status. The OpenAPI document lists them for all routes, and typed clients know
   * those from 400 on for the routes that are registered on this App.
   */
  responses?: Responses;
  /** Dependencies of every route, which run before those of routers and routes. */
  dependencies?: readonly Marker<unknown>[];
  /**
   * Returns the text of a validation error in the language of the client, or `undefined` for the original text. It
   * replaces `msg`, or `detail` with `problemDetails`.
   */
  translate?: Translate;
  /**
   * Observes each request and each WebSocket, for traces, metrics and logs: one or several, the first outermost. It
   * includes those of mounted Apps.
   */
  instrumentation?: Instrumentation | readonly Instrumentation[];
  /** The same as calling `addMiddleware` with each. */
  middleware?: readonly Middleware[];
  /** The same as calling `exceptionHandler` with each. */
  exceptionHandlers?: ExceptionHandlersInit;
}

const OPTIONS: OptionRules<AppOptions> = {
  ...OPENAPI_OPTIONS,
  debug: FLAG,
  lifespan: ANYTHING,
  limits: OBJECT,
  pool: OBJECT,
  shed: group(SHED_OPTIONS),
  entry: ANYTHING,
  logger: OBJECT,
  responses: OBJECT,
  translate: FUNCTION,
  dependencies: LIST,
  instrumentation: expecting("an object with a method start(scope), or a list of them", (value) =>
    [value].flat().every((one) => isObject(one) && "start" in one && typeof one.start === "function"),
  ),
  middleware: MIDDLEWARE_LIST,
  exceptionHandlers: ANYTHING,
};

/** Writes the errors of an App; `undefined` if its options do not concern them. */
function errorWriterOf(options: AppOptions, logger: Logger): ErrorWriter | undefined {
  const { errorFormat, problemDetails, translate, validationStatus = errorFormat?.validationStatus } = options;
  if (errorFormat && problemDetails) {
    throw configurationError("TSGI_INVALID_OPTION", "new App()", "problemDetails", "false with errorFormat", true);
  }
  const format = problemDetails ? PROBLEM_FORMAT : errorFormat;
  if (!format && !translate && validationStatus === undefined) return undefined;
  return new ErrorWriter({ format, validationStatus, translate, logger });
}

const dispatchers = new WeakMap<object, Dispatcher>();

/** Hands its calls to a dispatcher. */
class DispatchingInstance extends CallableInstance {
  /** @throws ConfigurationError for an unknown option, or one that cannot work. */
  constructor(options: AppOptions, parts: AppParts) {
    assertOptions("new App()", options, OPTIONS);
    const { instrumentation = [], logger = consoleLogger } = options;
    const instrumentations = [instrumentation].flat();
    const dispatcher = new Dispatcher();
    const worker = parts.workerHost();
    const handle =
      instrumentations.length > 0 ? dispatcher.observed(instrumentations, guardLogger(logger)) : dispatcher.handle;
    const self: ASGIApp = worker ? () => worker.park() : handle;
    super(self);
    dispatchers.set(self, dispatcher);
  }
}

/** Registered, so that a command reads an App of another copy of the package too. */
const ENDPOINTS: unique symbol = Symbol.for("tsgi.endpoints");

/**
 * The HTTP routes of an App as they were compiled, in the order of registration, for tools that describe them.
 *
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { endpointsOf } from "tsgi/internals";
 *
 * const app = new App();
 * app.get("/items/{id}", async ({ id }) => id);
 * console.log(endpointsOf(app).map(({ pattern }) => pattern.template)); // [ '/items/{id}' ]
 * ```
 */
export function endpointsOf(app: Application): readonly Endpoint[] {
  return app[ENDPOINTS];
}

const POOL: unique symbol = Symbol.for("tsgi.pool");

/** The pool of an application's plain handlers. */
export function poolOf(app: Application): HandlerPool {
  return app[POOL];
}

const PLANS: unique symbol = Symbol.for("tsgi.plans");

/** The compiled parameters of each route of an application, including WebSockets. */
export function plansOf(app: Application): ReadonlyMap<RouteRecord, RoutePlan> {
  return app[PLANS];
}

const DOCUMENT_SOURCE: unique symbol = Symbol.for("tsgi.document-source");

/** The options of an application's document, and the routes that it describes. */
export function documentSourceOf(app: Application): Documentation["source"] {
  return app[DOCUMENT_SOURCE];
}

const MOUNT_PUBLIC: unique symbol = Symbol.for("tsgi.mount-public");

/**
 * Mounts an application that is public by its standard, so that the dependencies of the App do not have to reach it, such as the
 * metadata by which a client finds its login.
 */
export function mountPublic(app: Application, path: string, mounted: ASGIApp): void {
  app[MOUNT_PUBLIC](path, mounted);
}

/** It is an ASGI application: call it with a scope, `receive` and `send`. */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging, eslint/no-unused-vars -- the constructor gives a function, which is callable; both declarations need the same type parameters
export interface Application<Responses extends ResponseDocs = {}> {
  (scope: Scope, receive: Receive, send: Send): Promise<void>;
}

/** An App without the parts of its platform. */
export class Application<Responses extends ResponseDocs = {}> extends DispatchingInstance {
  declare readonly [PATHS]: Paths<"", Around<true, Responses>>;
  /** A place for values that the application creates at startup. Not shared with another process or thread. */
  readonly state: Record<string, unknown>;
  /** Replacements of dependencies, for tests above all. They hold in mounted Apps too. */
  readonly dependencyOverrides = new DependencyOverrides();
  /** The options that it was made with. */
  readonly settings: Readonly<AppOptions>;
  readonly #application: ApplicationScope;
  readonly #logger: Logger;
  readonly #limits: Readonly<Limits>;

  /** @internal */
  get [LIMITS](): Readonly<Limits> {
    return this.#limits;
  }
  /** `undefined` for the default format. @internal */
  readonly [ERROR_WRITER]: ErrorWriter | undefined;
  readonly #exceptionHandlers: ExceptionHandlers;
  readonly #endpointSettings: EndpointSettings;
  readonly #root = new Router<"", Responses>();
  readonly #dispatcher = dispatchers.get(this) as Dispatcher;
  readonly #routes: (Endpoint | SocketEndpoint)[] = [];
  /** The last result of `routes`; `null` once another route is added. */
  #routeList: readonly RouteRecord[] | null = null;
  readonly #endpoints: Endpoint[] = [];
  readonly #lifespan: AppLifespan<Application>;
  readonly #pool: HandlerPool;
  /** The lifespan, and the pool around it. */
  readonly #life: Startable;
  readonly #documentation: Documentation;
  #fetch: ClosableFetchHandler | null = null;

  /** Registers a handler for `GET`, and so for `HEAD`. */
  readonly get: AppGet = this.#root.get;
  /** Registers a handler for `POST`. */
  readonly post: AppPost = this.#root.post;
  /** Registers a handler for `PUT`. */
  readonly put: AppPut = this.#root.put;
  /** Registers a handler for `PATCH`. */
  readonly patch: AppPatch = this.#root.patch;
  /** Registers a handler for `DELETE`. */
  readonly delete: AppDelete = this.#root.delete;
  /** Registers a handler for `HEAD`, if it should differ from the one of `GET`. */
  readonly head: Verb<"HEAD"> = this.#root.head;
  /** Registers a handler for `OPTIONS`. */
  readonly options: Verb<"OPTIONS"> = this.#root.options;
  /** Registers a handler for `TRACE`. */
  readonly trace: Verb<"TRACE"> = this.#root.trace;
  /** Registers one handler for several methods. */
  readonly route: MultiVerb = this.#root.route;

  /** Registers a handler of WebSockets, which gets each as `ws`. Its path matches exactly: a trailing slash counts. */
  readonly websocket: SocketVerb<"", true> = this.#root.websocket;

  /**
   * Webhooks for the document: requests that the application sends to subscribers, such as
   * `app.webhooks.post("order.shipped", { params })`.
   */
  readonly webhooks: Webhooks;

  /** @throws ConfigurationError for an unknown option, or one that cannot work. */
  constructor(options: AppOptions<Responses>, parts: AppParts) {
    super(options, parts);
    this.state = parts.createState();
    this.settings = Object.freeze({ ...options });
    this.#logger = guardLogger(options.logger ?? consoleLogger);
    keepLogger(this, this.#logger);
    keepAPIKeyPlaces(this, () => this.#apiKeyPlaces);
    this.#limits = mergeLimits(DEFAULT_LIMITS, options.limits);
    this.#exceptionHandlers = new ExceptionHandlers(options.exceptionHandlers);
    this.#dispatcher.addMiddleware(...(options.middleware ?? []));
    this[ERROR_WRITER] = errorWriterOf(options, this.#logger);
    this.#pool = parts.createPool({
      options: options.pool ?? {},
      entry: options.entry,
      logger: this.#logger,
      title: options.title ?? "",
      routes: () => this.routes.map(({ method, path }) => `${method} ${path}`),
    });
    this.#application = new ApplicationScope(this, this.dependencyOverrides, this.#logger);
    this.#endpointSettings = {
      pool: this.#pool,
      application: this.#application,
      handlers: [this.#exceptionHandlers],
      logger: this.#logger,
      debug: options.debug ?? false,
      limits: this.#limits,
      appMiddleware: () => this.#dispatcher.middleware,
    };
    this.#documentation = new Documentation(options, () => this.#routes, parts.pageFiles);
    this.webhooks = this.#documentation.webhooks((place) => this.#assertOpen(place));
    this.#lifespan = new AppLifespan<Application>(this, {
      logger: this.#logger,
      generator: options.lifespan,
      mounted: () => this.#mountedApps(),
      application: this.#application,
    });
    const life = this.#shedding(
      options.shed && parts.createShedder(options.shed, this.#logger),
      this.#pool.around(this.#lifespan),
    );
    this.#life = { start: (...args) => this.#startLife(life, args) };
    parts.keepPathTest?.(this, this.#dispatcher, this.#documentation);
    this.#dispatcher.configure({
      app: this,
      errors: this.#endpointSettings,
      limits: this.#limits,
      logger: this.#logger,
      overrides: this.dependencyOverrides,
      application: this.#application,
      lifespan: this.#life,
      errorWriter: this[ERROR_WRITER],
      onServing: () => this.#addDocumentation(),
    });
    this.#root[SUBSCRIBE]({
      addRoute: (entry) => this.#addRoute(entry),
      addMount: (entry) => this.#addMount(entry, options.dependencies),
      addLifespan: (entry) => this.#addLifespan(entry),
    });
  }

  /**
   * The App as a handler of the platform's requests, made at its first use: `export default { fetch: app.fetch }` serves it on
   * Bun, Deno and Cloudflare Workers. The lifespan starts before the first request.
   */
  get fetch(): ClosableFetchHandler {
    return (this.#fetch ??= toFetchHandler(this));
  }

  /** Every route, in the order of registration. Frozen, and the same list until a route is added. */
  get routes(): readonly RouteRecord[] {
    return (this.#routeList ??= Object.freeze(this.#routes.map(({ record }) => record)));
  }

  /** @internal */
  get [ENDPOINTS](): readonly Endpoint[] {
    return this.#endpoints;
  }

  /** @internal */
  get [PLANS](): ReadonlyMap<RouteRecord, RoutePlan> {
    return new Map(this.#routes.map(({ record, plan }) => [record, plan]));
  }

  /** @internal */
  get [POOL](): HandlerPool {
    return this.#pool;
  }

  /** The metrics of the worker pool; `null` without a pool. */
  get poolStats(): PoolStats | null {
    return this.#pool.stats;
  }

  /** Starts the lifespan. Through its state the server finds the format of errors. */
  #startLife(life: Startable, args: Parameters<Startable["start"]>): ReturnType<Startable["start"]> {
    this.#reportIncompletePages();
    const [state, options] = args;
    const { [ERROR_WRITER]: writer } = this;
    if (writer && options?.outer === undefined) Object.assign(state, { [ERROR_WRITER]: writer });
    return life.start(...args);
  }

  /** Adds the option `shed` to the lifespan, and its middleware to the App. */
  #shedding(shedder: LoadShedder | undefined, inner: Startable): Startable {
    if (shedder === undefined) return inner;
    this.#dispatcher.setOutermost(shedder.middleware);
    return shedder.around(inner);
  }

  #assertOpen(what: string): void {
    if (this.#dispatcher.isServing) {
      throw configurationError("TSGI_ALREADY_SERVING", what);
    }
  }

  #addRoute(entry: RouteEntry): void {
    this.#assertOpen(`${entry.method} ${entry.path}`);
    this.#routeList = null;
    const dependencies = [...(this.settings.dependencies ?? []), ...entry.dependencies];
    const exact = entry.method === WEBSOCKET;
    const pattern = PathPattern.parse(entry.path, entry.method, { exact });
    const whole = { ...entry, pattern, dependencies };
    if (exact) {
      const socket = new SocketEndpoint(whole, this.#endpointSettings, this.dependencyOverrides);
      this.#dispatcher.sockets.addRoute(WEBSOCKET, pattern, socket, entry.options);
      this.#application.add(socket.plan, pattern.names);
      this.#routes.push(socket);
      this.#documentation.clear();
      return;
    }
    const { responses } = this.settings;
    const options = responses
      ? { ...entry.options, responses: { ...responses, ...entry.options.responses } }
      : entry.options;
    const declared = responses ? [...entry.responses, responses] : entry.responses;
    const endpoint = new Endpoint(
      { ...whole, options, responses: declared },
      this.#endpointSettings,
      this.dependencyOverrides,
    );
    this.#dispatcher.router.addRoute(entry.method, pattern, endpoint, options);
    this.#application.add(endpoint.plan, pattern.names);
    this.#routes.push(endpoint);
    this.#endpoints.push(endpoint);
    this.#documentation.clear();
  }

  /** Adds the routes of the document, unless the application has routes at the same paths. */
  #reportIncompletePages(): void {
    const pages = this.#documentation.incompletePages;
    if (pages.length === 0 || !isFirstProcess()) return;
    this.#logger.warn(
      { pages },
      `${pages.join(" and ")} only link to the OpenAPI document, because their files are missing: a bundle or an executable ` +
        "does not contain the package @tsgi/docs-ui. Install it next to the bundle, or set docsUrl and redocUrl to null.",
    );
  }

  #addDocumentation(): void {
    for (const entry of this.#documentation.entries) {
      const { shape } = entry.pattern;
      if (this.#endpoints.some(({ record, pattern }) => record.method === "GET" && pattern.shape === shape)) continue;
      const endpoint = new Endpoint(entry, this.#endpointSettings, this.dependencyOverrides);
      this.#dispatcher.router.addRoute(entry.method, entry.pattern, endpoint, entry.options);
    }
  }

  /**
   * The OpenAPI document of this App's own routes, without mounted Apps. It is the same object until a route is added;
   * if you change it before the first request, the changed document is served.
   *
   * @throws ConfigurationError naming the route that cannot be described.
   */
  openapi(): OpenAPIDocument {
    return this.#documentation.document;
  }

  get [DOCUMENT_SOURCE](): Documentation["source"] {
    return this.#documentation.source;
  }

  /** The places of the API keys that routes expect, including mounted Apps, sorted. */
  get #apiKeyPlaces(): APIKeyPlace[] {
    const own = this.#routes.flatMap(({ plan }) => plan.allDependencies.map(({ callable }) => apiKeyPlaceOf(callable)));
    const mounted = this.#dispatcher.mounts.flatMap(({ app }) => (app instanceof Application ? app.#apiKeyPlaces : []));
    const places = [...own, ...mounted].filter((place) => place !== null);
    const byText = new Map(places.map((place) => [`${place.in} ${place.name}`, place]));
    return [...byText].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, place]) => place);
  }

  /** @internal */
  [MOUNT_PUBLIC](path: string, app: ASGIApp): void {
    this.#addMount({ path, app, middleware: [] });
  }

  /** @param dependencies - Around the mount. */
  #addMount(entry: MountEntry, dependencies: AppOptions["dependencies"] = []): void {
    const { path, app, middleware } = addMountLevel(entry, { dependencies });
    this.#assertOpen(`mount ${path}`);
    if (app === (this as unknown)) {
      throw configurationError("TSGI_MOUNTED_ON_ITSELF", path);
    }
    if (PathPattern.parse(path, "mount").names.length > 0) {
      throw configurationError("TSGI_MOUNT_PREFIX_PARAMETERS.router", path);
    }
    if (this.#dispatcher.mounts.some(({ prefix }) => prefix === path)) {
      throw configurationError("TSGI_DUPLICATE_MOUNT", path);
    }
    const wrapped = middleware.reduceRight<ASGIApp>((inner, list) => wrap(inner, list), app);
    const call = this.#dispatcher.guard(wrapped);
    this.#dispatcher.mounts.push({ prefix: path, app, call, connect: wrapped });
    this.#dispatcher.mounts.sort((left, right) => right.prefix.length - left.prefix.length);
  }

  #addLifespan({ router, lifespan }: LifespanEntry): void {
    this.#assertOpen("includeRouter");
    this.#lifespan.routers.set(router, lifespan);
  }

  #mountedApps(): Startable[] {
    const apps = new Set(this.#dispatcher.mounts.map(({ app }) => app));
    return [...apps].flatMap((app) => (app instanceof Application ? [app.#life] : []));
  }

  /**
   * Takes in the routes of a router, those that it has and those that it gets before the first request.
   *
   * @param router - The router, or the module that exports it and its routes (`import * as items`). The routes of a module have
   *   the names of their exports.
   * @throws ConfigurationError when a route of it cannot be added, or the application serves already.
   */
  includeRouter(router: Router<string> | RouterModule, options: IncludeOptions = {}): void {
    this.#assertOpen("includeRouter");
    this.#root.includeRouter(router, options);
  }

  /**
   * Hands everything below a prefix to another ASGI application. A route of this App that matches path and method
   * wins. `path` stays whole, `root_path` grows. The lifespan of a mounted App runs with this one's.
   *
   * @throws ConfigurationError when the prefix is taken, or the application serves already.
   */
  mount(path: string, app: ASGIApp): void {
    this.#root.mount(path, app);
  }

  /** Adds a middleware around everything so far: the last one added is outermost. The next request builds the chain. */
  addMiddleware(middleware: AddedMiddleware): void;
  addMiddleware(middleware: Middleware): void {
    if (typeof middleware !== "function") {
      throw configurationError("TSGI_MIDDLEWARE_NOT_A_FUNCTION.added", middleware);
    }
    this.#dispatcher.addMiddleware(middleware);
  }

  /**
   * Adds a startup hook. They run in the order of registration; each may return its own cleanup.
   *
   * @throws ConfigurationError for anything but a function.
   */
  onStartup(hook: LifespanHook<Application>): void {
    assertHook("onStartup", hook);
    this.#lifespan.startup.push(hook);
  }

  /**
   * Adds a shutdown hook. They run in reverse order of registration.
   *
   * @throws ConfigurationError for anything but a function.
   */
  onShutdown(hook: LifespanHook<Application>): void {
    assertHook("onShutdown", hook);
    this.#lifespan.shutdown.push(hook);
  }

  /**
   * Registers an exception handler for a class of errors or for a status.
   *
   * @throws ConfigurationError when the application serves already.
   */
  exceptionHandler<Key extends CheckKey<Key>>(key: Key, handler: KeyedHandler<Key>): void;
  exceptionHandler(key: ExceptionKey, handler: ExceptionHandler<never>): void {
    this.#assertOpen("exceptionHandler");
    this.#exceptionHandlers.set(key, handler);
  }

  /**
   * The path of a route by its name, percent-encoded.
   *
   * @param name - The route's option `name`, or the name of its handler.
   * @throws ConfigurationError if no route has the name, or a value is missing or not valid in a path.
   */
  urlPathFor(name: string, params: PathValues = {}): string {
    const route =
      this.#routes.find(({ record }) => record.metadata.name === name) ??
      this.#routes.find(({ record }) => record.metadata.name === undefined && record.handler.name === name);
    if (!route) {
      const names = this.routes.map(({ metadata, handler }) => metadata.name ?? handler.name);
      const meant = nearest(name, names);
      const way = meant ? `Did you mean ${JSON.stringify(meant)}?` : "Give one the option `name`.";
      throw configurationError("TSGI_UNKNOWN_ROUTE_NAME", name, way);
    }
    return route.pattern.build(params);
  }
}
