/** The application: registration on one side, one ASGI callable on the other. @module */
import { Endpoint, type EndpointSettings, OVERRIDES, type RouteRecord } from "./app/endpoint.js";
import { guard, toErrorResponse } from "./app/errors.js";
import { Lifespan, type LifespanFunction, type LifespanHook, serveLifespan, type Startable } from "./app/lifespan.js";
import { copyScope } from "./app/scope.js";
import { SocketEndpoint } from "./app/socket-endpoint.js";
import type { ASGIApp, HTTPScope, Receive, Scope, Send, WebSocketScope } from "./asgi.js";
import { encodeUTF8 } from "./datastructures.js";
import { DependencyOverrides } from "./dependencies.js";
import {
  type ExceptionHandler,
  ExceptionHandlers,
  type ExceptionHandlersInit,
  type ExceptionKey,
} from "./exception-handlers.js";
import { ConfigurationError, HTTPException } from "./exceptions.js";
import { DEFAULT_LIMITS, type Limits } from "./limits.js";
import { consoleLogger, type Logger } from "./logger.js";
import { type Middleware, wrap } from "./middleware.js";
import { Documentation, type OpenAPIDocument, type OpenAPIOptions } from "./openapi.js";
import type { Marker } from "./params.js";
import { Request } from "./request.js";
import { JSONResponse, type Response } from "./response.js";
import {
  type AppVerb,
  buildPath,
  canonicalPath,
  type Handler,
  type IncludeOptions,
  type MountEntry,
  type MultiRouteOptions,
  type PathParams,
  RadixRouter,
  type RouteEntry,
  type RouteOptions,
  Router,
  type SocketVerb,
  WEBSOCKET,
} from "./router.js";

export type { RouteRecord } from "./app/endpoint.js";
export type { LifespanFunction, LifespanHook } from "./app/lifespan.js";

/** The options of an `App`. */
export interface AppOptions extends OpenAPIOptions {
  /** Whether the body of a 500 tells the error. Never in production. Defaults to `false`. */
  debug?: boolean;
  /** Start-up and shutdown in one generator, instead of or beside the hooks. */
  lifespan?: LifespanFunction<App>;
  /** Bounds on what a request may cost; each has a default. */
  limits?: Partial<Limits>;
  /** Where the framework logs. Defaults to readable lines on the standard error output. */
  logger?: Logger;
  /** Dependencies of every route, before those of routers and routes. */
  dependencies?: readonly Marker<unknown>[];
  /** The same as calling `addMiddleware` with each. */
  middleware?: readonly Middleware[];
  /** The same as calling `exceptionHandler` with each. */
  exceptionHandlers?: ExceptionHandlersInit;
}

/** The code with which a WebSocket is closed that no route matches. The specification fixes it. */
const NO_ROUTE = 4004;

/** RFC 6455 §7.4.1: a protocol error. */
const PROTOCOL_ERROR = 1002;

/** A function that is an instance of the class at the same time. */
class CallableInstance {
  constructor() {
    const self = ((scope: Scope, receive: Receive, send: Send) =>
      (self as unknown as App).handle(scope, receive, send)) as object;
    return Object.setPrototypeOf(self, new.target.prototype) as CallableInstance;
  }
}

/** An App is an ASGI application: call it with a scope, `receive` and `send`. */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- the constructor gives a function, which is callable
export interface App {
  (scope: Scope, receive: Receive, send: Send): Promise<void>;
}

/** A mounted application, ready to be called. */
interface Mount {
  readonly prefix: string;
  readonly app: ASGIApp;
  readonly call: ASGIApp;
}

/**
 * An application: routes, dependencies, middleware and hooks, and an ASGI callable that serves them.
 *
 * @example
 * ```ts
 * import { App, t } from "tsgi";
 *
 * export const app = new App({ title: "Items" });
 * app.get(
 *   "/items/{item_id}",
 *   { params: { item_id: t.Integer(), version: t.Integer({ default: 1 }) } },
 *   async ({ item_id, version }) => ({ item_id, version }),
 * );
 * ```
 */
export class App extends CallableInstance {
  /** A place for what the application makes at start-up. Not shared with another process or thread. */
  readonly state: Record<string, unknown> = {};
  /** What is called in the place of a dependency, in tests above all. Reaches mounted Apps. */
  readonly dependencyOverrides = new DependencyOverrides();
  /** The options that it was made with. */
  readonly settings: Readonly<AppOptions>;
  readonly #logger: Logger;
  readonly #limits: Readonly<Limits>;
  readonly #exceptionHandlers: ExceptionHandlers;
  readonly #endpointSettings: EndpointSettings;
  readonly #root = new Router();
  readonly #router = new RadixRouter<Endpoint, RouteOptions>();
  readonly #routes: RouteRecord[] = [];
  readonly #endpoints: Endpoint[] = [];
  readonly #sockets = new RadixRouter<SocketEndpoint, RouteOptions>({ exact: true });
  readonly #mounts: Mount[] = [];
  readonly #middleware: Middleware[] = [];
  readonly #lifespan: Lifespan<App>;
  readonly #documentation: Documentation;
  #chain: ASGIApp | null = null;
  #isServing = false;

  /** Registers a handler for `GET`, and so for `HEAD`. */
  readonly get = this.#root.get as unknown as AppVerb;
  /** Registers a handler for `POST`. */
  readonly post = this.#root.post as unknown as AppVerb;
  /** Registers a handler for `PUT`. */
  readonly put = this.#root.put as unknown as AppVerb;
  /** Registers a handler for `PATCH`. */
  readonly patch = this.#root.patch as unknown as AppVerb;
  /** Registers a handler for `DELETE`. */
  readonly delete = this.#root.delete as unknown as AppVerb;
  /** Registers a handler for `HEAD`, where it is not to be that of `GET`. */
  readonly head = this.#root.head as unknown as AppVerb;
  /** Registers a handler for `OPTIONS`. */
  readonly options = this.#root.options as unknown as AppVerb;
  /** Registers a handler for `TRACE`. */
  readonly trace = this.#root.trace as unknown as AppVerb;
  /** Registers one handler for several methods. */
  readonly route: <H extends Handler>(path: string, options: RouteOptions & MultiRouteOptions, handler: H) => H =
    this.#root.route;

  /** Registers a handler of WebSockets, which gets each as `ws`. Its path matches exactly: a trailing slash counts. */
  readonly websocket: SocketVerb = this.#root.websocket;

  constructor(options: AppOptions = {}) {
    super();
    this.settings = Object.freeze({ ...options });
    this.#logger = options.logger ?? consoleLogger;
    this.#limits = Object.freeze({ ...DEFAULT_LIMITS, ...options.limits });
    this.#exceptionHandlers = new ExceptionHandlers(options.exceptionHandlers);
    this.#middleware.push(...(options.middleware ?? []));
    this.#endpointSettings = {
      handlers: [this.#exceptionHandlers],
      logger: this.#logger,
      debug: options.debug ?? false,
      limits: this.#limits,
    };
    this.#documentation = new Documentation(options, () => this.#endpoints);
    this.#lifespan = new Lifespan<App>(this, this.#logger, options.lifespan, () => this.#mountedApps());
    this.#root.subscribe({ addRoute: (entry) => this.#addRoute(entry), addMount: (entry) => this.#addMount(entry) });
  }

  /** Every route, in the order of registration. */
  get routes(): readonly RouteRecord[] {
    return this.#routes;
  }

  /** Every route as it was compiled, for documents. */
  get endpoints(): readonly Endpoint[] {
    return this.#endpoints;
  }

  #assertOpen(what: string): void {
    if (this.#isServing) {
      throw new ConfigurationError(
        `${what}: the application serves already. Register routes, routers, mounts and exception handlers before ` +
          "the first request, at the latest in an onStartup hook.",
      );
    }
  }

  #addRoute(entry: RouteEntry): void {
    this.#assertOpen(`${entry.method} ${entry.path}`);
    const dependencies = [...(this.settings.dependencies ?? []), ...entry.dependencies];
    if (entry.method === WEBSOCKET) {
      const socket = new SocketEndpoint({ ...entry, dependencies }, this.#endpointSettings, this.dependencyOverrides);
      this.#sockets.addRoute(WEBSOCKET, entry.path, socket, entry.options);
      this.#routes.push(socket.record);
      return;
    }
    const endpoint = new Endpoint({ ...entry, dependencies }, this.#endpointSettings, this.dependencyOverrides);
    this.#router.addRoute(entry.method, entry.path, endpoint, entry.options);
    this.#routes.push(endpoint.record);
    this.#endpoints.push(endpoint);
    this.#documentation.clear();
  }

  /** Closes registration and adds the routes of the document, but where the application has its own. */
  #startServing(): void {
    this.#isServing = true;
    for (const entry of this.#documentation.entries) {
      const isTaken = this.#routes.some(({ method, path }) => method === "GET" && canonicalPath(path) === entry.path);
      if (isTaken) continue;
      const endpoint = new Endpoint(entry, this.#endpointSettings, this.dependencyOverrides);
      this.#router.addRoute(entry.method, entry.path, endpoint, entry.options);
    }
  }

  /**
   * The OpenAPI document of this App's own routes, without those of mounted Apps. It is the same object until a route
   * is added; what is changed in it before the first request for it, is served.
   *
   * @throws ConfigurationError naming the route that cannot be described.
   */
  openapi(): OpenAPIDocument {
    return this.#documentation.document;
  }

  #addMount({ path, app, middleware }: MountEntry): void {
    this.#assertOpen(`mount ${path}`);
    if (app === (this as unknown)) throw new ConfigurationError(`mount ${path}: an App cannot mount itself.`);
    const prefix = canonicalPath(path) ?? path;
    if (this.#mounts.some((mount) => mount.prefix === prefix)) {
      throw new ConfigurationError(`mount ${path}: another application is mounted there already.`);
    }
    const guarded = guard(
      middleware.reduceRight<ASGIApp>((inner, list) => wrap(inner, list), app),
      (error, scope, receive) => this.#toErrorResponse(error, scope, receive),
      this.#logger,
    ) as ASGIApp;
    this.#mounts.push({ prefix: prefix === "/" ? "" : prefix, app, call: guarded });
    this.#mounts.sort((left, right) => right.prefix.length - left.prefix.length);
  }

  #mountedApps(): Startable[] {
    return this.#mounts.flatMap(({ app }) => (app instanceof App ? [app.#lifespan] : []));
  }

  /**
   * Takes in the routes of a router, those that it has and those that it gets before the first request.
   *
   * @throws ConfigurationError when a route of it cannot be added, or the application serves already.
   */
  includeRouter(router: Router<string>, options: IncludeOptions = {}): void {
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
  addMiddleware(middleware: Middleware): void {
    if (typeof middleware !== "function") {
      throw new ConfigurationError(`addMiddleware() takes a function from app to app, not ${typeof middleware}.`);
    }
    this.#middleware.push(middleware);
    this.#chain = null;
  }

  /** Adds a start-up hook. They run in the order of registration; each may return its own clean-up. */
  onStartup(hook: LifespanHook<App>): void {
    this.#lifespan.startup.push(hook);
  }

  /** Adds a shutdown hook. They run in reverse order of registration. */
  onShutdown(hook: LifespanHook<App>): void {
    this.#lifespan.shutdown.push(hook);
  }

  /**
   * Registers what becomes of an error, by its class or by the status that it would be answered with.
   *
   * @throws ConfigurationError when the application serves already.
   */
  exceptionHandler<E>(key: abstract new (...args: never) => E, handler: ExceptionHandler<E>): void;
  exceptionHandler(key: number, handler: ExceptionHandler<Error>): void;
  exceptionHandler(key: ExceptionKey, handler: ExceptionHandler<never>): void {
    this.#assertOpen("exceptionHandler");
    this.#exceptionHandlers.set(key, handler);
  }

  /**
   * The path of a route by its name, percent-encoded.
   *
   * @param name - The route's option `name`, or the name of its handler.
   * @throws ConfigurationError when no route has the name, or a value is missing or cannot stand in a path.
   */
  urlPathFor(name: string, params: Readonly<Record<string, string | number | bigint | boolean>> = {}): string {
    const route =
      this.#routes.find(({ metadata }) => metadata.name === name) ??
      this.#routes.find(({ metadata, handler }) => metadata.name === undefined && handler.name === name);
    if (!route) throw new ConfigurationError(`urlPathFor: no route is named ${JSON.stringify(name)}.`);
    return buildPath(route.path, params);
  }

  /** Serves one scope: what calling the App does. */
  handle(scope: Scope, receive: Receive, send: Send): Promise<void> {
    switch (scope.type) {
      case "http":
        return this.#handleHTTP(scope, receive, send);
      case "websocket":
        return this.#handleWebSocket(scope, receive, send);
      case "lifespan":
        return (this.#chain ?? this.#buildChain())(scope, receive, send);
      default:
        return rejectScope(scope);
    }
  }

  #handleHTTP(scope: HTTPScope, receive: Receive, send: Send): Promise<void> {
    if (!this.#isServing) this.#startServing();
    const chain = this.#chain ?? this.#buildChain();
    if (scope.app !== undefined) return chain(scope, receive, send);
    const path = canonicalPath(scope.path, scope.raw_path);
    if (path === null) return Promise.resolve(badPath().send(send, scope.method === "HEAD"));
    const { raw_path: rawPath = path === scope.path ? undefined : encodePath(scope.path) } = scope;
    return chain(copyScope(scope, path, rawPath, this), receive, send);
  }

  async #handleWebSocket(scope: WebSocketScope, receive: Receive, send: Send): Promise<void> {
    if (!this.#isServing) this.#startServing();
    const chain = this.#chain ?? this.#buildChain();
    if (scope.app !== undefined) return chain(scope, receive, send);
    const path = canonicalPath(scope.path, scope.raw_path, { exact: true });
    if (path === null) return send({ type: "websocket.close", code: PROTOCOL_ERROR, reason: "The path is not valid" });
    await chain({ ...scope, path, app: this }, receive, send);
  }

  #buildChain(): ASGIApp {
    const core: ASGIApp = (scope, receive, send) => this.#dispatch(scope, receive, send);
    if (this.#middleware.length === 0) return (this.#chain = core);
    const wrapped = wrap(core, this.#middleware);
    const guarded = guard(
      wrapped,
      (error, scope, receive) => this.#toErrorResponse(error, scope, receive),
      this.#logger,
    );
    return (this.#chain = (scope, receive, send) =>
      scope.type === "http" ? guarded(scope, receive, send) : wrapped(scope, receive, send));
  }

  #dispatch(scope: Scope, receive: Receive, send: Send): Promise<void> {
    if (scope.type === "http") return this.#dispatchHTTP(scope, receive, send);
    if (scope.type === "websocket") return this.#dispatchWebSocket(scope, receive, send);
    return serveLifespan(this.#lifespan, scope, receive, send, this.#logger);
  }

  #dispatchHTTP(scope: HTTPScope, receive: Receive, send: Send): Promise<void> {
    const path = localPath(scope);
    const { method } = scope;
    const found = this.#router.resolve(method, path) ?? (method === "HEAD" ? this.#router.resolve("GET", path) : null);
    if (found !== null) return found[0].call(scope, receive, send, found[1]);
    const mount = this.#mounts.find(({ prefix }) => isBelow(path, prefix));
    if (mount) return this.#callMount(mount, scope, receive, send);
    return this.#noRoute(path, scope, receive, send);
  }

  #callMount(mount: Mount, scope: HTTPScope | WebSocketScope, receive: Receive, send: Send): Promise<void> {
    const outer = (scope as { [OVERRIDES]?: readonly DependencyOverrides[] })[OVERRIDES] ?? [];
    const inner = {
      ...scope,
      root_path: rootPathOf(scope) + mount.prefix,
      [OVERRIDES]: [...outer, this.dependencyOverrides],
    };
    return scope.type === "http" ? mount.call(inner, receive, send) : mount.app(inner, receive, send);
  }

  async #dispatchWebSocket(scope: WebSocketScope, receive: Receive, send: Send): Promise<void> {
    const path = localPath(scope);
    const found = this.#sockets.resolve(WEBSOCKET, path);
    if (found) return found[0].call(scope, receive, send, found[1]);
    const mount = this.#mounts.find(({ prefix }) => isBelow(path, prefix));
    if (mount) return this.#callMount(mount, scope, receive, send);
    await send({ type: "websocket.close", code: NO_ROUTE, reason: "No route" });
  }

  async #noRoute(path: string, scope: HTTPScope, receive: Receive, send: Send): Promise<void> {
    const allowed = this.#router.allowedMethods(path);
    const error =
      allowed.length > 0
        ? new HTTPException(405, undefined, { headers: { Allow: allowed.join(", ") } })
        : new HTTPException(404);
    const response = await this.#toErrorResponse(error, scope, receive);
    await response.send(send, scope.method === "HEAD");
    await response.background?.run();
  }

  #toErrorResponse(error: unknown, scope: HTTPScope, receive: Receive): Promise<Response> {
    return toErrorResponse(error, new Request(scope, receive, this.#limits), this.#endpointSettings);
  }
}

function badPath(): Response {
  return new JSONResponse({ detail: "The path is not valid percent-encoded UTF-8" }, { statusCode: 400 });
}

/** The target of a scope without `raw_path`, so that its slashes are still known once the path is canonical. */
function encodePath(path: string): Uint8Array {
  return encodeUTF8(path.split("/").map(encodeURIComponent).join("/"));
}

function rejectScope(scope: unknown): Promise<never> {
  const given = scope as { type?: unknown; rawHeaders?: unknown } | null;
  if (given?.rawHeaders !== undefined) {
    throw new TypeError(
      "An App is an ASGI application, not a listener of http.createServer. " +
        'Write `http.createServer(toNodeHandler(app))` with `import { toNodeHandler } from "tsgi/node"`.',
    );
  }
  return Promise.reject(
    new TypeError(`Unknown scope type ${JSON.stringify(given?.type)}: expected "http", "websocket" or "lifespan".`),
  );
}

function rootPathOf(scope: HTTPScope | WebSocketScope): string {
  const root = scope.root_path ?? "";
  return root.endsWith("/") ? root.slice(0, -1) : root;
}

/** Whether a path is a prefix's own or below it. */
function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === "/");
}

/** The path below `root_path`. Where a server's `root_path` is not part of the path, the whole path. */
function localPath(scope: HTTPScope | WebSocketScope): string {
  const root = scope.root_path;
  if (root === undefined || root === "") return scope.path;
  const prefix = rootPathOf(scope);
  return isBelow(scope.path, prefix) ? scope.path.slice(prefix.length) || "/" : scope.path;
}

/** The parameters of a scope's path, for those who wrap endpoints. */
export type { PathParams };
