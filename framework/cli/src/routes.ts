/** `tsgi routes`: every route of an application, as a table. @module */
import type { App } from "tsgi";
import { endpointsOf, nameOf, plansOf, routeNameOf } from "tsgi/internals";
import { readDeclaredNames } from "./declared-names.js";
import { loadTsgiApp } from "./load-app.js";
import { toTable } from "./table.js";
import type { Terminal } from "./terminal.js";

/** One route, as the table and `--json` show it. */
export interface RouteLine {
  method: string;
  path: string;
  /** The route's name, or its handler's, or the variable that holds it. */
  name: string;
  /** The handler's name; of an anonymous one, the variable that holds it, else method and path. */
  handler: string;
  runs: "async" | "pool" | "loop";
  /** Names of the dependencies, as they are declared: guards first. */
  dependencies: string[];
}

export async function showRoutes(
  module: string | undefined,
  options: { json?: boolean },
  terminal: Terminal,
): Promise<void> {
  const { app, shownFile } = await loadTsgiApp(module);
  const lines = await describeRoutes(app);
  if (options.json) return terminal.printLine(JSON.stringify(lines, null, 2));
  if (lines.length === 0) return terminal.printLine(`${shownFile} has no routes.`);
  terminal.printLine(showTable(lines, terminal.width));
}

/** Leaves out names that repeat method and path, and a column without any other. */
function showTable(lines: readonly RouteLine[], width: number): string {
  const columns: readonly (readonly [head: string, cells: readonly string[]])[] = [
    ["method", lines.map(({ method }) => method)],
    ["path", lines.map(({ path }) => path)],
    ...(["name", "handler"] as const)
      .map((head) => [head, lines.map((line) => (line[head] === targetOf(line) ? "" : line[head]))] as const)
      .filter(([, cells]) => cells.some((cell) => cell !== "")),
    ["runs", lines.map(({ runs }) => runs)],
    ["dependencies", lines.map(({ dependencies }) => dependencies.join(", "))],
  ];
  const rows = lines.map((_, row) => columns.map(([, cells]) => cells[row] ?? ""));
  return toTable(
    columns.map(([head]) => head),
    rows,
    width,
  );
}

async function describeRoutes(app: App): Promise<RouteLine[]> {
  const names = await readDeclaredNames(app);
  const endpoints = new Map(endpointsOf(app).map((endpoint) => [endpoint.record, endpoint]));
  return Array.from(plansOf(app), ([route, { handler, allDependencies }]) => ({
    method: route.method,
    path: route.path,
    name: names.get(routeNameOf(route)) ?? routeNameOf(route),
    handler: handler.callable.name || (names.get(targetOf(route)) ?? targetOf(route)),
    runs: placeOf(endpoints.get(route)),
    dependencies: allDependencies.map(nameOf),
  }));
}

function targetOf({ method, path }: Pick<RouteLine, "method" | "path">): string {
  return `${method} ${path}`;
}

/** The place where a handler runs; a WebSocket has no endpoint for requests, and its handler is asynchronous. */
function placeOf(endpoint: ReturnType<typeof endpointsOf>[number] | undefined): RouteLine["runs"] {
  if (endpoint?.isPooled) return "pool";
  return endpoint?.plan.handler.isAsync === false ? "loop" : "async";
}
