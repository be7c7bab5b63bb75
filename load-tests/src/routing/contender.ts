/** The exports of a module for the routing benchmark. @module */
import type { BenchRoute } from "./routes.js";

/** A route that was found, in one shape for all routers. */
export interface Found {
  readonly handler: unknown;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A router with the routes of the benchmark. */
export interface RoutingContender {
  /** Timed: the router's own look-up, with its own result; `undefined` or `null` without a route. */
  readonly lookup: (method: string, path: string) => unknown;
  /** Untimed: reads a result of `lookup`, so that it can be checked. */
  readonly read: (result: unknown) => Found;
}

interface RoutingModule {
  createRouter(routes: readonly BenchRoute[]): RoutingContender;
}

/** Imports a router's module and makes the router. @throws TypeError when it exports no `createRouter`. */
export async function loadRouter(url: string, routes: readonly BenchRoute[]): Promise<RoutingContender> {
  const module: unknown = await import(url);
  if (!isRoutingModule(module)) throw new TypeError(`Expected ${url} to export a function named createRouter.`);
  return module.createRouter(routes);
}

function isRoutingModule(module: unknown): module is RoutingModule {
  return (
    typeof module === "object" &&
    module !== null &&
    "createRouter" in module &&
    typeof module.createRouter === "function"
  );
}
