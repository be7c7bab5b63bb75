/** Habits from other frameworks that do not cause an error. @module */
import type { App, RouteRecord } from "tsgi";
import { endpointsOf, nameOf, plural, QUERY } from "tsgi/internals";
import { type Finding, note } from "./finding.js";

/** Routes that a line names. */
const SHOWN = 3;

/** Finds the habits in the routes of an application. */
export function checkHabits(app: App): Finding[] {
  const found = new Map<string, string[]>();
  const add = ({ method, path }: RouteRecord, texts: Iterable<string>) => {
    for (const text of texts) found.set(text, [...(found.get(text) ?? []), `${method} ${path}`]);
  };
  for (const route of app.routes) add(route, [...habitsOfPattern(route.path), ...habitsOfHandler(route)]);
  for (const endpoint of endpointsOf(app)) add(endpoint.record, habitsOfPlan(endpoint));
  return Array.from(found, ([text, routes]) => note("routes", `${list(routes)}: ${text}`));
}

/** Habits that show in the parameters of a handler and its dependencies. */
function* habitsOfPlan({ record, pattern, plan }: ReturnType<typeof endpointsOf>[number]): Generator<string> {
  for (const dependency of plan.allDependencies) {
    const { length } = dependency.callable;
    if (length > 1) yield `the dependency ${nameOf(dependency)} ${takesTooMuch(length)}.`;
  }
  for (const { name, marker } of plan.sources) {
    const meant = marker.source === QUERY ? nameMeant(name, pattern.names) : undefined;
    if (meant !== undefined) {
      yield `${JSON.stringify(name)} is read from the query, since the path has {${meant}}. Write one name.`;
    }
  }
  const body = plan.sources.find(({ marker }) => marker.source.body !== null);
  if (body && BODILESS.has(record.method)) {
    yield (
      `${JSON.stringify(body.name)} is read from a body, which clients do not send with ${record.method}. ` +
        "Write Query(schema), or take another method."
    );
  }
  const takesNothing = plan.handler.specs.length === 0 && pattern.names.length === 0;
  if (takesNothing && record.handler.length === 1) yield TAKES_NOTHING;
}

/** Content in a request with one of these has no meaning (RFC 9110 §9.3.1, §9.3.2), and `fetch` refuses to send it. */
const BODILESS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

const TAKES_NOTHING =
  "the handler has an argument, but the route has no parameters, so the argument is an empty object. " +
  "Declare what the handler needs, for example { params: { request: Request } }, with Request of tsgi.";

/** A parameter as Express (`:id`), Flask (`<int:id>`) and Next.js (`[id]`) write it: here it is plain text. */
const FOREIGN_PARAM = /^(?::(\w+).*|<(?:\w+:)?(\w+)>|\[(?:\.\.\.)?(\w+)\])$/;

function habitsOfPattern(pattern: string): string[] {
  return pattern.split("/").flatMap((segment) => {
    const [, express, flask, next] = FOREIGN_PARAM.exec(segment) ?? [];
    const name = express ?? flask ?? next;
    if (name !== undefined) return [`${JSON.stringify(segment)} is plain text here. Write "{${name}}".`];
    return segment.includes("?") ? ["the query, after a ?, is not part of a path. Declare its names in params."] : [];
  });
}

/** The name in a pattern that differs from a parameter's only in case or underscores. */
function nameMeant(name: string, names: readonly string[]): string | undefined {
  const plain = (text: string) => text.replaceAll("_", "").toLowerCase();
  return names.find((found) => found !== name && plain(found) === plain(name));
}

function habitsOfHandler({ handler, method }: RouteRecord): string[] {
  if (handler.length < 2) return [];
  const way = method === "WEBSOCKET" ? "async ({ ws }) => …" : "async ({ item_id }) => …, which returns the response";
  return [`the handler ${takesTooMuch(handler.length)}: ${way}.`];
}

function takesTooMuch(length: number): string {
  return `takes ${plural(length, "argument")} and is given one, an object of its parameters by name`;
}

function list(routes: readonly string[]): string {
  const shown = routes.slice(0, SHOWN).join(", ");
  return routes.length > SHOWN ? `${shown} and ${routes.length - SHOWN} more` : shown;
}

/** Methods of other frameworks' applications, and what is written in their place. */
const METHODS: Readonly<Record<string, string>> = {
  use: "app.addMiddleware(…), app.includeRouter(router) or app.mount(path, app)",
  all: "app.route(path, { methods: […] }, handler)",
  listen: "serve(app) of tsgi/node, or tsgi run",
  register: "app.includeRouter(router)",
  include_router: "app.includeRouter(router)",
  add_middleware: "app.addMiddleware(…)",
  addHook: "a dependency, or app.addMiddleware(httpMiddleware(…))",
  decorate: "a dependency, or the state that lifespan yields",
  onError: "app.exceptionHandler(ErrorClass, handler)",
  setErrorHandler: "app.exceptionHandler(ErrorClass, handler)",
  notFound: "app.exceptionHandler(404, handler)",
  inject: "TestClient of tsgi/testing",
};

/** Advice where a module failed for a method that an App does not have; `null` for any other error. */
export function explainMethod(error: unknown): string | null {
  if (!(error instanceof TypeError)) return null;
  const [, method = ""] = /^(?:app|api|router|server)\.(\w+) is not a function$/.exec(error.message) ?? [];
  const way = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
  return way === undefined ? null : `An App of tsgi has no ${method}(). Write ${way}.`;
}
