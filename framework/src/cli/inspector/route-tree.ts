import { type App, endpointsOf } from "../../app.js";
import type { DependencyStep } from "../../dependencies.js";
import { nameOf } from "../../dependencies.js";
import { DependsMarker } from "../../params.js";

/** A dependency with those that it depends on. */
export interface DependencyTree {
  readonly name: string;
  readonly dependencies: readonly DependencyTree[];
}

/** A route with its dependencies, guards first. */
export interface RouteTree extends DependencyTree {
  readonly method: string;
  /** The whole pattern. */
  readonly path: string;
}

/** The routes of an App as trees, in the order of their declaration. */
export function describeRouteTree(app: App): RouteTree[] {
  const plans = new Map(endpointsOf(app).map(({ record, plan }) => [record, plan]));
  return app.routes.map((route) => {
    const { method, path, handler, metadata } = route;
    const plan = plans.get(route);
    const declared = [...(metadata.dependencies ?? []), ...Object.values(metadata.params ?? {})];
    const dependencies =
      plan === undefined
        ? declared.flatMap((marker) => (marker instanceof DependsMarker ? [leafOf(marker)] : []))
        : [...plan.guards, ...plan.handler.dependencies].map(treeOf);
    return { method, path, name: metadata.name ?? handler.name, dependencies };
  });
}

/** Below a WebSocket, whose plan is not public. */
function leafOf({ callable }: DependsMarker): DependencyTree {
  return { name: nameOf(callable), dependencies: [] };
}

function treeOf({ plan }: DependencyStep): DependencyTree {
  return { name: plan.name, dependencies: plan.dependencies.map(treeOf) };
}
