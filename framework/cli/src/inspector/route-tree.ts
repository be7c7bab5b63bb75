/** Routes and their dependencies, as trees for the inspector. @module */
import type { App } from "tsgi";
import { type DependencyStep, nameOf, plansOf, routeNameOf } from "tsgi/internals";
import type { HandlerNames } from "../declared-names.js";

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
export function describeRouteTree(app: App, names: HandlerNames): RouteTree[] {
  return Array.from(plansOf(app), ([route, { guards, handler }]) => {
    const dependencies = [...guards, ...handler.dependencies].map(treeOf);
    const name = names.get(routeNameOf(route)) ?? routeNameOf(route);
    return { method: route.method, path: route.path, name, dependencies };
  });
}

function treeOf({ plan }: DependencyStep): DependencyTree {
  return { name: nameOf(plan), dependencies: plan.dependencies.map(treeOf) };
}
