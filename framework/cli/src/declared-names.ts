/** Names of functions by their declarations: an arrow function inside `withParams` has no name. @module */
import type { Debugger, Session } from "node:inspector";
import type { App } from "tsgi";
import { plansOf, routeNameOf } from "tsgi/internals";

/**
 * The property of `globalThis` through which V8's inspector receives values, because its protocol cannot carry them.
 */
const HANDOVER = "tsgi.declaredNames";

/** The variables that hold anonymous handlers, by the names that their routes have without one: `GET /items`. */
export type HandlerNames = ReadonlyMap<string, string>;

/**
 * Gives the dependencies of an application the names of the variables that hold them, and finds the names of its routes:
 * `export const listItems = items.get("/items", …)`. For commands of a developer only, because it reads sources: a server in
 * production knows the names of functions and of parameters.
 *
 * @returns The names of routes. Their handlers stay anonymous, because the ids of operations and the URLs of routes depend
 *   on the names of handlers.
 */
export async function readDeclaredNames(app: App): Promise<HandlerNames> {
  const plans = [...plansOf(app)];
  const dependencies = new Set(plans.flatMap(([, plan]) => plan.allDependencies.map(({ callable }) => callable)));
  const routes = plans.flatMap(([route, { handler }]) =>
    handler.callable.name === "" && route.metadata.name === undefined ? [[route, handler.callable] as const] : [],
  );
  const names = await findDeclaredNames([...dependencies, ...routes.map(([, callable]) => callable)]);
  for (const callable of dependencies) {
    const value = names.get(callable);
    if (value !== undefined) Reflect.defineProperty(callable, "name", { value, configurable: true });
  }
  return new Map(
    routes.flatMap(([route, callable]) => {
      const name = names.get(callable);
      return name === undefined ? [] : [[routeNameOf(route), name] as const];
    }),
  );
}

/**
 * The variable to which each function is assigned as an argument: `const getUser = withParams({}, async () =>`. Read
 * from the source before the function, which V8's inspector locates, so that registration does not store it. Empty on a
 * runtime without that inspector: Bun's cannot be enabled, and Deno's returns an error for each call.
 *
 * @see https://chromedevtools.github.io/devtools-protocol/v8/Runtime/#type-InternalPropertyDescriptor
 */
async function findDeclaredNames<F extends object>(functions: readonly F[]): Promise<ReadonlyMap<F, string>> {
  const session = await connect();
  if (session === null) return new Map();
  Object.defineProperty(globalThis, HANDOVER, { value: functions, configurable: true });
  try {
    return new Map(
      functions.flatMap((fn, index) => {
        const name = readDeclaration(sourceOf(session, index));
        return name === null ? [] : [[fn, name] as const];
      }),
    );
  } finally {
    Reflect.deleteProperty(globalThis, HANDOVER);
    session.disconnect();
  }
}

async function connect(): Promise<Session | null> {
  try {
    const inspector = await import("node:inspector");
    const session = new inspector.Session();
    session.connect();
    session.post("Debugger.enable");
    return session;
  } catch {
    return null;
  }
}

/** The source of a function's module, and the part of it before the function. */
interface Source {
  readonly whole: string;
  readonly before: string;
}

/** `post` calls back before it returns. */
function sourceOf(session: Session, index: number): Source {
  let source: Source = { whole: "", before: "" };
  const expression = `globalThis[${JSON.stringify(HANDOVER)}][${index}]`;
  session.post("Runtime.evaluate", { expression }, (error, evaluated) => {
    const objectId = error === null ? evaluated.result.objectId : undefined;
    if (objectId === undefined) return;
    session.post("Runtime.getProperties", { objectId }, (_none, { internalProperties }) => {
      const location: unknown = internalProperties?.find(({ name }) => name === "[[FunctionLocation]]")?.value?.value;
      if (!isLocation(location)) return;
      const { scriptId, lineNumber, columnNumber } = location;
      session.post("Debugger.getScriptSource", { scriptId }, (unread, script) => {
        const whole = unread === null ? script.scriptSource : "";
        const lines = whole.split("\n").slice(0, lineNumber + 1);
        source = { whole, before: [...lines.slice(0, -1), lines.at(-1)?.slice(0, columnNumber) ?? ""].join("\n") };
      });
    });
  });
  return source;
}

function isLocation(value: unknown): value is Debugger.Location {
  return typeof value === "object" && value !== null && "scriptId" in value && "lineNumber" in value;
}

/** The variable of the last call before a function, if the call is still open there. */
function readDeclaration({ whole, before }: Source): string | null {
  const last = [...before.matchAll(/\b(?:const|let|var)\s+([\w$]+)\s*=\s*[\w$.]+\(/g)].at(-1);
  if (last === undefined) return null;
  let depth = 0;
  for (const [bracket] of before.slice(last.index + last[0].length).matchAll(/[()[\]{}]/g)) {
    depth += "([{".includes(bracket) ? 1 : -1;
    if (depth < 0) return null;
  }
  const [, variable = ""] = last;
  return exportedName(whole, variable) ?? (isShortened(whole, variable) ? null : variable);
}

/** The name under which a module exports a variable: `export{u as getCaller}`. */
function exportedName(source: string, variable: string): string | null {
  for (const [, list = ""] of source.matchAll(/\bexport\s*\{([^}]*)\}/g)) {
    for (const entry of list.split(",")) {
      const [local = "", name = local] = entry.split(/\sas\s/).map((part) => part.trim());
      if (local === variable && name !== undefined) return name;
    }
  }
  return null;
}

/** True for a variable that a bundler has renamed. tsx removes white space too, but keeps the names. */
function isShortened(source: string, variable: string): boolean {
  return variable.length <= 2 && /\b(?:import|export)\{/.test(source);
}
