/** Routing: the radix tree, and routers that are put together into an application. @module */
import { markCopy } from "../common/copies.js";
import type { ASGIApp } from "../protocol/asgi.js";
import {
  type CheckKey,
  type ExceptionHandler,
  ExceptionHandlers,
  type ExceptionKey,
  type KeyedHandler,
} from "../http/exception-handlers.js";
import { configurationError, foreignError } from "../common/exceptions.js";
import { assertOptions, isObject } from "../common/options.js";
import type { ResponseDocs } from "../parameters/annotation.js";
import { PathPattern } from "./path-pattern.js";
import {
  addLevel,
  addMountLevel,
  type RouteHandler,
  type LifespanEntry,
  type MountEntry,
  type Registry,
  type RouteEntry,
  withName,
} from "./entries.js";
import {
  assertRouteOptions,
  INCLUDE_OPTIONS,
  type IncludeOptions,
  type MultiRouteOptions,
  ROUTE_OPTIONS,
  type RouteOptions,
  ROUTER_OPTIONS,
  type RouterOptions,
  WEBSOCKET_OPTIONS,
} from "./options.js";
import type { AppDelete, AppGet, AppPatch, AppPost, AppPut } from "./common-verbs.js";
import type { Around, PATHS, Paths } from "./owner.js";
import type { MultiVerb, SocketVerb, Verb } from "./verbs.js";

/** The methods that have their own verb. */
export const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"] as const;

/** Stands in the place of a method for WebSockets. */
export const WEBSOCKET = "WEBSOCKET";

/** Tells a registry everything that is registered in a router, now and later. */
export const SUBSCRIBE: unique symbol = Symbol("subscribe");

/** RFC 9110 §9.1: a method is a token; those in use are upper-case words. */
const METHOD = /^[A-Z][A-Z-]*$/;

/**
 * A module of routes, as `import * as items from "./routes/items.js"` returns it: it exports one Router, and what the verbs of that
 * return.
 */
export type RouterModule = Readonly<Record<string, unknown>>;

const NO_NAMES: ReadonlyMap<unknown, string> = new Map();

const isRouter = (value: unknown): value is Router<string> => value instanceof Router;

/** The Router itself, or the one of a module. */
function routerOf(given: Router<string> | RouterModule): Router<string> {
  if (isRouter(given)) return given;
  const values: unknown[] = isObject(given) ? Object.values(given) : [];
  const routers = values.filter(isRouter);
  const [router, ...others] = routers;
  if (router === undefined) {
    const [error] = values.flatMap((value) => foreignError(value) ?? []);
    throw error ?? configurationError("TSGI_NOT_A_ROUTER.given", given);
  }
  if (others.length > 0) throw configurationError("TSGI_NOT_A_ROUTER.module", routers.length);
  return router;
}

/** The names under which a module exports functions: handlers, as verbs return them. */
function exportedNames(module: RouterModule): ReadonlyMap<unknown, string> {
  return new Map(Object.entries(module).flatMap(([name, value]) => (name === "default" ? [] : [[value, name]])));
}

/** The verbs by the kind of registration. */
interface Verbs<Prefix extends string> {
  GET: AppGet;
  POST: AppPost;
  PUT: AppPut;
  PATCH: AppPatch;
  DELETE: AppDelete;
  HEAD: Verb<"HEAD">;
  OPTIONS: Verb<"OPTIONS">;
  TRACE: Verb<"TRACE">;
  [WEBSOCKET]: SocketVerb<Prefix>;
}

/** The methods, the path and the options that a handler is registered with. */
interface Declaration {
  readonly methods: readonly unknown[];
  readonly path: string;
  readonly options: RouteOptions;
}

/** A route as it is declared, without the routers around it. */
function entryOf(method: string, { path, options }: Declaration, handler: RouteHandler): RouteEntry {
  return {
    method,
    path,
    handler,
    options: { ...options, tags: options.tags ?? [] },
    dependencies: options.dependencies ?? [],
    responses: options.responses ? [options.responses] : [],
    middleware: options.middleware ? [options.middleware] : [],
    exceptionHandlers: options.exceptionHandlers ? [new ExceptionHandlers(options.exceptionHandlers)] : [],
  };
}

/**
 * A group of routes that an App or another router includes, with shared settings: a prefix, tags, dependencies,
 * middleware, exception handlers.
 *
 * @example
 * ```ts
 * import { App, Router } from "tsgi";
 *
 * const users = new Router({ prefix: "/users", tags: ["users"] });
 * users.get("/{id}", async ({ id }) => ({ id }));
 * const app = new App();
 * app.includeRouter(users);
 * ```
 */
export class Router<const Prefix extends string = "", Responses extends ResponseDocs = {}> {
  static {
    markCopy(this);
  }

  declare readonly [PATHS]: Paths<Prefix, Around<false, Responses>>;
  readonly #options: RouterOptions;
  readonly #exceptionHandlers: ExceptionHandlers;
  readonly #routes: RouteEntry[] = [];
  readonly #mounts: MountEntry[] = [];
  readonly #lifespans: LifespanEntry[] = [];
  readonly #registries: Registry[] = [];
  readonly #included = new Set<Router<string>>();

  /** Registers a handler for `GET`, and so for `HEAD`. */
  readonly get: AppGet = this.#verb("GET");
  /** Registers a handler for `POST`. */
  readonly post: AppPost = this.#verb("POST");
  /** Registers a handler for `PUT`. */
  readonly put: AppPut = this.#verb("PUT");
  /** Registers a handler for `PATCH`. */
  readonly patch: AppPatch = this.#verb("PATCH");
  /** Registers a handler for `DELETE`. */
  readonly delete: AppDelete = this.#verb("DELETE");
  /** Registers a handler for `HEAD`, if it should differ from the one of `GET`. */
  readonly head: Verb<"HEAD"> = this.#verb("HEAD");
  /** Registers a handler for `OPTIONS`. */
  readonly options: Verb<"OPTIONS"> = this.#verb("OPTIONS");
  /** Registers a handler for `TRACE`. */
  readonly trace: Verb<"TRACE"> = this.#verb("TRACE");

  /** Registers a handler of WebSockets, which gets each as `ws`. Its path matches exactly: a trailing slash counts. */
  readonly websocket: SocketVerb<Prefix> = this.#verb(WEBSOCKET);

  /** @throws ConfigurationError for an unknown option, or one that cannot work. */
  constructor(options: RouterOptions<Prefix, Responses> = {}) {
    assertOptions("new Router()", options, ROUTER_OPTIONS);
    this.#options = options;
    this.#exceptionHandlers = new ExceptionHandlers(options.exceptionHandlers);
    if (options.lifespan) this.#lifespans.push({ router: this, lifespan: options.lifespan });
  }

  #verb<Of extends keyof Verbs<Prefix>>(of: Of): Verbs<Prefix>[Of] {
    return ((path: string, ...rest: readonly unknown[]) => this.#register([of], path, rest)) as Verbs<Prefix>[Of];
  }

  /** Registers one handler for several methods. */
  readonly route: MultiVerb = ((path: string, given: unknown, ...handler: readonly unknown[]) => {
    const { methods = ["GET"], ...options }: MultiRouteOptions = assertRouteOptions(`route ${path}`, given);
    return this.#register(methods, path, [options, ...handler]);
  }) as MultiVerb;

  /** `(handler)`, `(options, handler)`, or `(options?)` for a decorator. */
  #register(methods: readonly unknown[], path: string, rest: readonly unknown[]): unknown {
    if (!Array.isArray(methods) || methods.length === 0) {
      throw configurationError("TSGI_INVALID_METHOD.list", path, methods);
    }
    const place = `${methods.join(", ")} ${path}`;
    const [first, second] = rest;
    if (typeof first === "function" && rest.length === 1)
      return this.#add({ methods, path, options: {} }, first as RouteHandler);
    // The result of calling an asynchronous handler is a promise, which looks like empty options.
    if (first instanceof Promise && rest.length === 1) return this.#add({ methods, path, options: {} }, first as never);
    const options: RouteOptions = assertRouteOptions(place, first);
    assertOptions(place, options, methods[0] === WEBSOCKET ? WEBSOCKET_OPTIONS : ROUTE_OPTIONS);
    if (rest.length < 2) return (handler: RouteHandler) => this.#add({ methods, path, options }, handler);
    return this.#add({ methods, path, options }, second as RouteHandler);
  }

  #add(declaration: Declaration, handler: RouteHandler): RouteHandler {
    const { methods, path } = declaration;
    const place = `${methods.join(", ")} ${path}`;
    if (typeof handler !== "function") throw configurationError("TSGI_HANDLER_NOT_A_FUNCTION.route", place, handler);
    if (typeof path !== "string") throw configurationError("TSGI_PATH_NOT_A_STRING", methods.join(", "), path);
    if (path !== "" && !path.startsWith("/")) throw configurationError("TSGI_PATH_WITHOUT_SLASH", place, path);
    for (const given of methods) {
      const method = typeof given === "string" ? given.toUpperCase() : "";
      if (!METHOD.test(method)) throw configurationError("TSGI_INVALID_METHOD.word", place, given);
      this.#publish(
        "addRoute",
        addLevel(entryOf(method, declaration, handler), this.#options, this.#exceptionHandlers),
      );
    }
    return handler;
  }

  #publish(kind: "addRoute", entry: RouteEntry): void;
  #publish(kind: "addMount", entry: MountEntry): void;
  #publish(kind: "addRoute" | "addMount", entry: RouteEntry | MountEntry): void {
    // The registries first: a route that one of them rejects is not kept.
    for (const registry of this.#registries) registry[kind](entry as RouteEntry & MountEntry);
    if (kind === "addRoute") this.#routes.push(entry as RouteEntry);
    else this.#mounts.push(entry as MountEntry);
  }

  /**
   * Takes in the routes of another router, those that it has and those that it gets later.
   *
   * @throws ConfigurationError when a route of it cannot be added here.
   */
  includeRouter(given: Router<string> | RouterModule, options: IncludeOptions = {}): void {
    const router = routerOf(given);
    const names = isRouter(given) ? NO_NAMES : exportedNames(given);
    if (router.#reaches(this)) {
      const named =
        router.#options.prefix === undefined ? "" : ` with the prefix ${JSON.stringify(router.#options.prefix)}`;
      throw configurationError("TSGI_CIRCULAR_ROUTER", named);
    }
    assertOptions("includeRouter()", options, INCLUDE_OPTIONS);
    const handlers = new ExceptionHandlers(options.exceptionHandlers);
    this.#included.add(router);
    router[SUBSCRIBE]({
      addLifespan: (entry) => {
        for (const registry of this.#registries) registry.addLifespan(entry);
        this.#lifespans.push(entry);
      },
      addRoute: (entry) => {
        const inner = addLevel(withName(entry, names), options, handlers);
        const outer = addLevel(inner, this.#options, this.#exceptionHandlers);
        this.#publish("addRoute", outer);
      },
      addMount: (entry) => {
        this.#publish("addMount", addMountLevel(addMountLevel(entry, options), this.#options));
      },
    });
  }

  #reaches(target: Router<string>): boolean {
    return (this as Router<string>) === target || [...this.#included].some((router) => router.#reaches(target));
  }

  /** Hands everything below a prefix to another application. Its `path` stays whole, its `root_path` grows. */
  mount(path: string, app: ASGIApp): void {
    if (typeof app !== "function") throw configurationError("TSGI_NOT_AN_ASGI_APPLICATION.mount", path, app);
    const pattern = PathPattern.parse(path, "mount");
    if (pattern.names.length > 0) throw configurationError("TSGI_MOUNT_PREFIX_PARAMETERS.mount", path);
    const entry = { path: pattern.segments.length > 0 ? pattern.template : "", app, middleware: [] };
    this.#publish("addMount", addMountLevel(entry, this.#options));
  }

  /** Registers what becomes of an error of this router's routes, and of the routers that it includes. */
  exceptionHandler<Key extends CheckKey<Key>>(key: Key, handler: KeyedHandler<Key>): void;
  exceptionHandler(key: ExceptionKey, handler: ExceptionHandler<never>): void {
    this.#exceptionHandlers.set(key, handler);
  }

  /** @internal */
  [SUBSCRIBE](registry: Registry): void {
    for (const entry of this.#lifespans) registry.addLifespan(entry);
    for (const entry of this.#routes) registry.addRoute(entry);
    for (const entry of this.#mounts) registry.addMount(entry);
    this.#registries.push(registry);
  }
}
