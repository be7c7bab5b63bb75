/** Registrations on their way to an App. @module */
import type { ASGIApp } from "../protocol/asgi.js";
import { configurationError } from "../common/exceptions.js";
import type { Middleware } from "../middleware/chain.js";
import type { ExceptionHandlers } from "../http/exception-handlers.js";
import type { Callable } from "../parameters/depends.js";
import type { Marker } from "../parameters/marker.js";
import type { ResponseDocs } from "../parameters/annotation.js";
import type { PathPattern } from "./path-pattern.js";
import type { IncludeOptions, MessageSchemas, RouteOptions, RouterLifespan } from "./options.js";

/** A handler as registration sees it. */
export type RouteHandler = Callable;

/** A route on its way to an App: its own options, and the options of the routers around it. */
export interface RouteEntry {
  readonly method: string;
  /** The known part of the pattern: each router adds its prefix. */
  readonly path: string;
  readonly handler: RouteHandler;
  readonly options: RouteOptions & MessageSchemas;
  /** Guards, outside in. */
  readonly dependencies: readonly Marker<unknown>[];
  /** The responses that the route, and the routers around it, declare, innermost first. */
  readonly responses: readonly ResponseDocs[];
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
  readonly handler: RouteHandler;
  /** The options, with those of the App and the routers around the route. */
  readonly metadata: RouteOptions & MessageSchemas;
}

/** The name of a route wherever people read it: its option `name`, else its handler's name, else method and path. */
export function routeNameOf({ method, path, handler, metadata }: RouteRecord): string {
  return metadata.name ?? (handler.name || `${method} ${path}`);
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

/** A router's own startup and shutdown. */
export interface LifespanEntry {
  readonly router: object;
  readonly lifespan: RouterLifespan;
}

/** Receives every registration, past and future. */
export interface Registry {
  addLifespan(entry: LifespanEntry): void;
  addRoute(entry: RouteEntry): void;
  addMount(entry: MountEntry): void;
}

/** Gives a route the name under which its handler is exported, unless it has the option `name`. */
export function withName(entry: RouteEntry, names: ReadonlyMap<unknown, string>): RouteEntry {
  const name = entry.options.name ?? names.get(entry.handler);
  return name === undefined ? entry : { ...entry, options: { ...entry.options, name } };
}

/** Adds the options of one level to an entry. */
export function addLevel(entry: RouteEntry, level: IncludeOptions, handlers: ExceptionHandlers): RouteEntry {
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
    responses: level.responses ? [...entry.responses, level.responses] : entry.responses,
    middleware: level.middleware ? [level.middleware, ...entry.middleware] : entry.middleware,
    exceptionHandlers: [...entry.exceptionHandlers, handlers],
  };
}

/**
 * Adds the options of one level to a mount.
 *
 * @throws ConfigurationError if the level has dependencies. Attack: they would guard its routes, and the mounted application next to
 *   them would be open.
 */
export function addMountLevel(entry: MountEntry, level: IncludeOptions): MountEntry {
  const { prefix = "", dependencies = [], middleware } = level;
  const path = prefix + entry.path;
  if (dependencies.length > 0) throw configurationError("TSGI_MOUNT_UNDER_DEPENDENCIES", path);
  return { ...entry, path, middleware: middleware ? [middleware, ...entry.middleware] : entry.middleware };
}
