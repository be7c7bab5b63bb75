import { guardOf } from "../code/registrars.js";
import { UsageError } from "../errors.js";
import { quoteName } from "../project-name.js";
import { camelOf, slugOf } from "./names.js";
import { endOfPaths, findPlace, findRoute } from "./place.js";
import { methods, RouteCode } from "./route-code.js";
import type { SubGenerator } from "./sub-generator.js";
import { routeTest } from "./test-file.js";

/** Adds a route to the Router whose prefix matches, or to the App, with a test. */
export const route: SubGenerator = {
  usage: 'route "<METHOD> <path>"',
  help: "a route and its test, in the router whose prefix matches, else in the app",
  example: 'route "GET /orders/{order_id}/lines"',
  parameters: [1, 2],
  plan(project, { parameters, file }) {
    const code = readRoute(parameters);
    const { method, path } = code;
    const existing = findRoute(project, method.toLowerCase(), path);
    if (existing !== null) {
      return { changes: [], notes: [`${method} ${path} is in ${existing} already.`] };
    }
    const place = findPlace(project, path, file);
    const { file: source, path: sourcePath } = place.module;
    const guard = guardOf(place.registrar);
    const isGuarded = guard !== null && project.testOpening.kind === "helper";
    const own = guard?.isShared === false ? guard : undefined;
    const text = code.render(place.registrar.variable, place.path, importerOf(source), own);
    const name = `${method.toLowerCase()}-${slugOf(path)}`;
    // Exports inside a function are not possible.
    const exported = source.statements.includes(place.registrar.declaration) ? source.freeName(camelOf(name)) : null;
    const statement = exported === null ? text : `export const ${exported} = ${text}`;
    source.insertAfter(endOfPaths(place.registrar), statement, "paragraph");
    const test = routeTest(project, {
      name,
      title: `answers ${method} ${path}${isGuarded ? ", to those who are logged in" : ""}`,
      module: exported === null ? null : sourcePath,
      isGuarded,
      calls: [code.call],
    });
    return { changes: [{ path: sourcePath, text: source.toString(), isNew: false }, test], notes: [] };
  },
};

/** Imports each name once. */
function importerOf(source: { importName(module: string, name: string): string }): (name: string) => string {
  const names = new Map<string, string>();
  return (name) => {
    const known = names.get(name) ?? source.importName("tsgi", name);
    names.set(name, known);
    return known;
  };
}

/** `"GET /x"` as one word or as two. */
function readRoute(parameters: readonly string[]): RouteCode {
  const [word = "", path, ...more] = parameters.join(" ").trim().split(/\s+/);
  const method = methods.find((known) => known === word.toUpperCase());
  if (method === undefined || path === undefined || more.length > 0) {
    const given = quoteName(parameters.join(" "));
    throw new UsageError(`${given} is not a route: write it as "GET /items/{id}", with one of ${methods.join(", ")}`);
  }
  return new RouteCode(method, path);
}
