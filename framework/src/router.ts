/** Routing: the radix tree, and routers that are put together into an application. @module */
import type { ASGIApp } from "./asgi.js";
import type { Middleware } from "./chain.js";
import {
  type CheckKey,
  type ExceptionHandler,
  ExceptionHandlers,
  type ExceptionHandlersInit,
  type ExceptionKey,
  type KeyedHandler,
} from "./exception-handlers.js";
import { configurationError } from "./exceptions.js";
import {
  ANYTHING,
  assertOptions,
  expecting,
  FLAG,
  FUNCTION,
  isObject,
  LIST,
  OBJECT,
  oneOf,
  type OptionRule,
  type OptionRules,
  TEXT,
  whole,
} from "./options.js";
import type { Callable, Marker } from "./params.js";
import { PathPattern } from "./path-pattern.js";
import type { Application } from "./request.js";
import type { MultiRouteOptions, RouteMetadata, RouteOptions } from "./router/options.js";
import type { MultiVerb, RouterVerb, SocketVerb } from "./router/verbs.js";

export type {
  CallbackOperation,
  Callbacks,
  MediaTypeDoc,
  ResponseDoc,
  ResponseDocs,
} from "./router/document-options.js";
export type {
  MultiRouteOptions,
  RouteMetadata,
  RouteOptions,
  RoutePoolOptions,
  StreamFormat,
} from "./router/options.js";
export type { FromPath, HandlerArgs, HandlerResult } from "./router/route-types.js";
export type { AppVerb, MultiVerb, RouterVerb, SocketVerb, Verb } from "./router/verbs.js";
export { type PathParams, type Resolved } from "./router/route.js";
export { RadixNode } from "./router/radix-node.js";
export { RadixRouter } from "./router/radix-router.js";

/** The methods that have a verb of their own. */
export const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"] as const;

/** Stands in the place of a method for WebSockets. */
export const WEBSOCKET = "WEBSOCKET";

/** RFC 9110 §9.1: a method is a token; those in use are upper-case words. */
const METHOD = /^[A-Z][A-Z-]*$/;

/** A handler as registration sees it. */
export type Handler = Callable;

/** A route on its way to an App: what it says itself, and what the routers around it add. */
export interface RouteEntry {
  readonly method: string;
  /** The pattern as far as it is known: each router adds its prefix in front. */
  readonly path: string;
  readonly handler: Handler;
  readonly options: RouteOptions;
  /** Guards, outside in. */
  readonly dependencies: readonly Marker<unknown>[];
  /** Outermost first, each list as it was given. */
  readonly middleware: readonly (readonly Middleware[])[];
  /** Innermost first. */
  readonly exceptionHandlers: readonly ExceptionHandlers[];
}

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

/** A route of an App, whose whole pattern is known. */
export interface AppRouteEntry extends RouteEntry {
  readonly pattern: PathPattern;
}

/** An application on its way to an App. */
export interface MountEntry {
  readonly path: string;
  readonly app: ASGIApp;
  readonly middleware: readonly (readonly Middleware[])[];
}

/** A router's own start-up and shutdown. */
export interface LifespanEntry {
  readonly router: object;
  readonly lifespan: RouterLifespan;
}

/** Start-up before the `yield`, shutdown after it. What it yields goes into the state of every scope. */
export type RouterLifespan = {
  /** A method, so that a function of an `App` is one as well. */
  run(app: Application): AsyncGenerator<Record<string, unknown> | void, void, unknown>;
}["run"];

/** Receives every registration, those of the past and those to come. */
export interface Registry {
  addLifespan(entry: LifespanEntry): void;
  addRoute(entry: RouteEntry): void;
  addMount(entry: MountEntry): void;
}

/** Options that a router adds to each of its routes. */
export interface IncludeOptions {
  /** Put in front of each pattern. May have `{names}`, which the handlers declare with `Path()`. */
  prefix?: string;
  /** Put in front of each route's tags. */
  tags?: readonly string[];
  /** Run before those of each route. */
  dependencies?: readonly Marker<unknown>[];
  /** Around each route, the last outermost. */
  middleware?: readonly Middleware[];
  /** Asked after those of each route. */
  exceptionHandlers?: ExceptionHandlersInit;
  /** Further responses of each route for the document. */
  responses?: RouteMetadata["responses"];
  /** Marks each route in the document. */
  deprecated?: boolean;
  /** `false` leaves each route out of the document. */
  includeInSchema?: boolean;
}

/** The options of a `Router`. */
export interface RouterOptions<Prefix extends string = string> extends IncludeOptions {
  prefix?: Prefix;
  /**
   * Start-up and shutdown of what the routes need, run once inside the application's own, which it is given. What it
   * yields is merged into the application's state.
   */
  lifespan?: RouterLifespan;
}

const PREFIX: OptionRule = (place, option, value) => {
  TEXT(place, option, value);
  const prefix = value as string;
  if (prefix === "" || (prefix.startsWith("/") && !prefix.endsWith("/"))) return;
  throw configurationError("TSGI_INVALID_PREFIX", prefix, `/${prefix.replaceAll(/^\/+|\/+$/g, "")}`);
};

/** A list of functions. */
export const MIDDLEWARE: OptionRule = (place, option, value) => {
  LIST(place, option, value);
  for (const layer of value as readonly unknown[]) {
    if (typeof layer !== "function") throw configurationError("TSGI_MIDDLEWARE_NOT_A_FUNCTION.listed", place, layer);
  }
};

const INCLUDE_OPTIONS: OptionRules<IncludeOptions> = {
  prefix: PREFIX,
  tags: LIST,
  dependencies: LIST,
  middleware: MIDDLEWARE,
  exceptionHandlers: ANYTHING,
  responses: OBJECT,
  deprecated: FLAG,
  includeInSchema: FLAG,
};

const BOOLEAN_OR_OBJECT = expecting("true, false or { endOnDisconnect: true }", isObject);

const ROUTE_POOL: OptionRule = (place, option, value) => {
  if (typeof value === "boolean") return;
  BOOLEAN_OR_OBJECT(place, option, value);
  assertOptions(`${place}: ${option}`, value, { endOnDisconnect: FLAG });
};

const ROUTE_OPTIONS: OptionRules<RouteOptions> = {
  params: OBJECT,
  returns: ANYTHING,
  tags: LIST,
  statusCode: whole(200, 599),
  summary: TEXT,
  description: TEXT,
  operationId: TEXT,
  deprecated: FLAG,
  includeInSchema: FLAG,
  responses: OBJECT,
  callbacks: OBJECT,
  dependencies: LIST,
  name: TEXT,
  middleware: MIDDLEWARE,
  exceptionHandlers: ANYTHING,
  stream: oneOf("jsonl", "sse"),
  pool: ROUTE_POOL,
  limits: OBJECT,
};

/** @throws ConfigurationError for what cannot be the options of a route. */
function assertRouteOptions(place: string, given: unknown): object {
  if (given === undefined) return {};
  if (typeof given === "object" && given !== null && !Array.isArray(given) && !(given instanceof Promise)) return given;
  throw configurationError("TSGI_INVALID_ROUTE_ARGUMENTS", place, given);
}

/** Adds to an entry what one level around it says. */
function addLevel(entry: RouteEntry, level: IncludeOptions, handlers: ExceptionHandlers): RouteEntry {
  const { options } = entry;
  const tags = [...(level.tags ?? []), ...(options.tags ?? [])];
  return {
    ...entry,
    path: (level.prefix ?? "") + entry.path,
    options: {
      ...options,
      tags: [...new Set(tags)],
      ...(level.responses ? { responses: { ...level.responses, ...options.responses } } : {}),
      ...(level.deprecated && options.deprecated === undefined ? { deprecated: true } : {}),
      ...(level.includeInSchema === false ? { includeInSchema: false } : {}),
    },
    dependencies: [...(level.dependencies ?? []), ...entry.dependencies],
    middleware: level.middleware ? [level.middleware, ...entry.middleware] : entry.middleware,
    exceptionHandlers: [...entry.exceptionHandlers, handlers],
  };
}

/**
 * A group of routes that an App or another router includes, with what they share: a prefix, tags, dependencies,
 * middleware, handlers of errors.
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
export class Router<const Prefix extends string = ""> {
  readonly #options: RouterOptions;
  readonly #exceptionHandlers: ExceptionHandlers;
  readonly #routes: RouteEntry[] = [];
  readonly #mounts: MountEntry[] = [];
  readonly #lifespans: LifespanEntry[] = [];
  readonly #registries: Registry[] = [];
  readonly #included = new Set<Router<string>>();

  /** Registers a handler for `GET`, and so for `HEAD`. */
  readonly get: RouterVerb<Prefix> = this.#verb("GET");
  /** Registers a handler for `POST`. */
  readonly post: RouterVerb<Prefix> = this.#verb("POST");
  /** Registers a handler for `PUT`. */
  readonly put: RouterVerb<Prefix> = this.#verb("PUT");
  /** Registers a handler for `PATCH`. */
  readonly patch: RouterVerb<Prefix> = this.#verb("PATCH");
  /** Registers a handler for `DELETE`. */
  readonly delete: RouterVerb<Prefix> = this.#verb("DELETE");
  /** Registers a handler for `HEAD`, where it is not to be that of `GET`. */
  readonly head: RouterVerb<Prefix> = this.#verb("HEAD");
  /** Registers a handler for `OPTIONS`. */
  readonly options: RouterVerb<Prefix> = this.#verb("OPTIONS");
  /** Registers a handler for `TRACE`. */
  readonly trace: RouterVerb<Prefix> = this.#verb("TRACE");

  /** Registers a handler of WebSockets, which gets each as `ws`. Its path matches exactly: a trailing slash counts. */
  readonly websocket: SocketVerb<Prefix> = this.#verb(WEBSOCKET);

  /** @throws ConfigurationError for an option that there is not, or that cannot work. */
  constructor(options: RouterOptions<Prefix> = {}) {
    assertOptions("new Router()", options, { ...INCLUDE_OPTIONS, lifespan: FUNCTION });
    this.#options = options;
    this.#exceptionHandlers = new ExceptionHandlers(options.exceptionHandlers);
    if (options.lifespan) this.#lifespans.push({ router: this, lifespan: options.lifespan });
  }

  #verb(method: string): RouterVerb<Prefix> {
    return ((path: string, ...rest: readonly unknown[]) => this.#register([method], path, rest)) as RouterVerb<Prefix>;
  }

  /** Registers one handler for several methods. */
  readonly route: MultiVerb<Prefix> = ((path: string, given: unknown, ...handler: readonly unknown[]) => {
    const { methods = ["GET"], ...options }: MultiRouteOptions = assertRouteOptions(`route ${path}`, given);
    return this.#register(methods, path, [options, ...handler]);
  }) as MultiVerb<Prefix>;

  /** `(handler)`, `(options, handler)`, or `(options?)` for a decorator. */
  #register(methods: readonly unknown[], path: string, rest: readonly unknown[]): unknown {
    if (!Array.isArray(methods) || methods.length === 0) {
      throw configurationError("TSGI_INVALID_METHOD.list", path, methods);
    }
    const place = `${methods.join(", ")} ${path}`;
    const [first, second] = rest;
    if (typeof first === "function" && rest.length === 1) return this.#add(methods, path, {}, first as Handler);
    // A handler that was called, and is asynchronous, gives a promise, which looks like options that are empty.
    if (first instanceof Promise && rest.length === 1) return this.#add(methods, path, {}, first as never);
    const options: RouteOptions = assertRouteOptions(place, first);
    assertOptions(place, options, ROUTE_OPTIONS);
    if (rest.length < 2) return (handler: Handler) => this.#add(methods, path, options, handler);
    return this.#add(methods, path, options, second as Handler);
  }

  #add(methods: readonly unknown[], path: string, options: RouteOptions, handler: Handler): Handler {
    const place = `${methods.join(", ")} ${path}`;
    if (typeof handler !== "function") throw configurationError("TSGI_HANDLER_NOT_A_FUNCTION.route", place, handler);
    if (typeof path !== "string") throw configurationError("TSGI_PATH_NOT_A_STRING", methods.join(", "), path);
    if (path !== "" && !path.startsWith("/")) throw configurationError("TSGI_PATH_WITHOUT_SLASH", place, path);
    for (const given of methods) {
      const method = typeof given === "string" ? given.toUpperCase() : "";
      if (!METHOD.test(method)) throw configurationError("TSGI_INVALID_METHOD.word", place, given);
      const entry: RouteEntry = {
        method,
        path,
        handler,
        options: { ...options, tags: options.tags ?? [] },
        dependencies: options.dependencies ?? [],
        middleware: options.middleware ? [options.middleware] : [],
        exceptionHandlers: options.exceptionHandlers ? [new ExceptionHandlers(options.exceptionHandlers)] : [],
      };
      this.#publish("addRoute", addLevel(entry, this.#options, this.#exceptionHandlers));
    }
    return handler;
  }

  #publish(kind: "addRoute", entry: RouteEntry): void;
  #publish(kind: "addMount", entry: MountEntry): void;
  #publish(kind: "addRoute" | "addMount", entry: RouteEntry | MountEntry): void {
    // The registries first: what one of them refuses is not kept.
    for (const registry of this.#registries) registry[kind](entry as RouteEntry & MountEntry);
    if (kind === "addRoute") this.#routes.push(entry as RouteEntry);
    else this.#mounts.push(entry as MountEntry);
  }

  /**
   * Takes in the routes of another router, those that it has and those that it gets later.
   *
   * @throws ConfigurationError when a route of it cannot be added here.
   */
  includeRouter(router: Router<string>, options: IncludeOptions = {}): void {
    if (!(router instanceof Router)) throw configurationError("TSGI_NOT_A_ROUTER", router);
    if (router.#reaches(this)) {
      const named =
        router.#options.prefix === undefined ? "" : ` with the prefix ${JSON.stringify(router.#options.prefix)}`;
      throw configurationError("TSGI_CIRCULAR_ROUTER", named);
    }
    assertOptions("includeRouter()", options, INCLUDE_OPTIONS);
    const handlers = new ExceptionHandlers(options.exceptionHandlers);
    this.#included.add(router);
    router.subscribe({
      addLifespan: (entry) => {
        for (const registry of this.#registries) registry.addLifespan(entry);
        this.#lifespans.push(entry);
      },
      addRoute: (entry) => {
        const outer = addLevel(addLevel(entry, options, handlers), this.#options, this.#exceptionHandlers);
        this.#publish("addRoute", outer);
      },
      addMount: (entry) => {
        this.#publish("addMount", {
          ...entry,
          path: `${this.#options.prefix ?? ""}${options.prefix ?? ""}${entry.path}`,
          middleware: [this.#options.middleware ?? [], options.middleware ?? [], ...entry.middleware],
        });
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
    if (this.#options.dependencies && this.#options.dependencies.length > 0) {
      throw configurationError("TSGI_MOUNT_UNDER_DEPENDENCIES", path);
    }
    this.#publish("addMount", {
      path: (this.#options.prefix ?? "") + (pattern.segments.length > 0 ? pattern.template : ""),
      app,
      middleware: this.#options.middleware ? [this.#options.middleware] : [],
    });
  }

  /** Registers what becomes of an error of this router's routes, and of the routers that it includes. */
  exceptionHandler<Key extends CheckKey<Key>>(key: Key, handler: KeyedHandler<Key>): void;
  exceptionHandler(key: ExceptionKey, handler: ExceptionHandler<never>): void {
    this.#exceptionHandlers.set(key, handler);
  }

  /** The handlers of errors that were registered here. */
  get exceptionHandlers(): ExceptionHandlers {
    return this.#exceptionHandlers;
  }

  /** Tells a registry everything that is registered here, now and later. */
  subscribe(registry: Registry): void {
    for (const entry of this.#lifespans) registry.addLifespan(entry);
    for (const entry of this.#routes) registry.addRoute(entry);
    for (const entry of this.#mounts) registry.addMount(entry);
    this.#registries.push(registry);
  }
}
