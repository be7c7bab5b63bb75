/** The router of tsgi. @module */
import { RadixRouter } from "tsgi";
import type { RoutingContender } from "../contender.js";
import type { BenchRoute } from "../routes.js";

/** Makes the router. */
export function createRouter(routes: readonly BenchRoute[]): RoutingContender {
  const router = new RadixRouter();
  for (const { method, path, handler } of routes) router.addRoute(method, path, handler);
  return {
    lookup: (method, path) => router.resolve(method, path),
    read: (result) => {
      // The result of `resolve`: handler, parameters, metadata.
      const [handler, params] = result as [unknown, Record<string, string>];
      return { handler, params };
    },
  };
}
