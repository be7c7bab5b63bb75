/** `tsgi routes`: every route of an application, as a table. @module */
import type { App, RouteRecord } from "../app.js";
import { nameOf } from "../dependencies.js";
import { DependsMarker } from "../params.js";
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

/** One route, compiled. */
type Endpoint = App["endpoints"][number];

function describeRoutes(app: App): RouteLine[] {
  const endpoints = new Map(app.endpoints.map((endpoint) => [endpoint.record, endpoint]));
  return app.routes.map((route) => {
    const { method, path, handler, metadata } = route;
    const shown = handler.name === "" ? "(anonymous)" : handler.name;
    const endpoint = endpoints.get(route);
    const dependencies = endpoint?.plan.allDependencies.map(({ name }) => name) ?? declaredDependencies(route);
    return { method, path, name: metadata.name ?? shown, handler: shown, runs: placeOf(endpoint), dependencies };
  });
}

/** Where a route's handler runs; that of a WebSocket, which has no endpoint for requests, is asynchronous. */
function placeOf(endpoint: Endpoint | undefined): RouteLine["runs"] {
  if (endpoint?.isPooled) return "pool";
  return endpoint?.plan.handler.isAsync === false ? "loop" : "async";
}

function declaredDependencies({ metadata }: RouteRecord): string[] {
  const markers = [...(metadata.dependencies ?? []), ...Object.values(metadata.params ?? {})];
  return markers.filter((marker) => marker instanceof DependsMarker).map(({ callable }) => nameOf(callable));
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
