/** `tsgi routes`: every route of an application, as a table. @module */
import type { App, RouteRecord } from "../app.js";
import { nameOf } from "../dependencies.js";
import { DependsMarker, isAsyncFunction } from "../params.js";
import { loadTsgiApp } from "./load-app.js";
import { toTable } from "./table.js";

/** One route, as the table and `--json` show it. */
export interface RouteLine {
  method: string;
  path: string;
  /** The route's name, or its handler's. */
  name: string;
  /** The handler's name. */
  handler: string;
  /** Where the handler runs. */
  runs: "async" | "pool" | "loop";
  /** Names of the dependencies: guards first. */
  dependencies: string[];
}

export async function showRoutes(module: string | undefined, options: { json?: boolean }): Promise<void> {
  const { app, shownFile } = await loadTsgiApp(module);
  const lines = describeRoutes(app);
  if (options.json) return print(JSON.stringify(lines, null, 2));
  if (lines.length === 0) return print(`${shownFile} has no routes.`);
  const rows = lines.map(({ method, path, name, handler, runs, dependencies }) => [
    method,
    path,
    name,
    handler,
    runs,
    dependencies.join(", "),
  ]);
  print(toTable(["method", "path", "name", "handler", "runs", "dependencies"], rows));
}

function describeRoutes(app: App): RouteLine[] {
  const plans = new Map(app.endpoints.map(({ record, plan }) => [record, plan]));
  return app.routes.map((route) => {
    const { method, path, handler, metadata } = route;
    const shown = handler.name === "" ? "(anonymous)" : handler.name;
    const dependencies = plans.get(route)?.allDependencies.map(({ name }) => name) ?? declaredDependencies(route);
    return { method, path, name: metadata.name ?? shown, handler: shown, runs: placeOf(route), dependencies };
  });
}

/** Where a route's handler runs: WebSockets and asynchronous handlers on the loop, plain ones in the pool. */
function placeOf({ method, handler, metadata }: RouteRecord): RouteLine["runs"] {
  if (method === "WEBSOCKET" || isAsyncFunction(handler)) return "async";
  return metadata.pool === false ? "loop" : "pool";
}

function declaredDependencies({ metadata }: RouteRecord): string[] {
  const markers = [...(metadata.dependencies ?? []), ...Object.values(metadata.params ?? {})];
  return markers.filter((marker) => marker instanceof DependsMarker).map(({ callable }) => nameOf(callable));
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
