/** Names of functions by their declarations: an arrow function inside `withParams` has no name. @module */
import type { Debugger, Session } from "node:inspector";
import type { App } from "tsgi";
import { plansOf } from "tsgi/internals";

/**
 * The property of `globalThis` through which V8's inspector receives values, because its protocol cannot carry them.
 */
const HANDOVER = "tsgi.declaredNames";

/**
 * Gives the dependencies of an application the names of the variables that hold them. For commands of a developer only,
 * because it reads sources: a server in production knows the names of functions and of parameters.
 */
export async function nameDependencies(app: App): Promise<void> {
  const plans = [...plansOf(app).values()].flatMap(({ allDependencies }) => allDependencies);
  const callables = new Set(plans.map(({ callable }) => callable));
  for (const [callable, name] of await findDeclaredNames([...callables])) {
    Reflect.defineProperty(callable, "name", { value: name, configurable: true });
  }
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
        const name = readDeclaration(sourceBefore(session, index));
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

/** The text of a function's module up to the function. `post` calls back before it returns. */
function sourceBefore(session: Session, index: number): string {
  let text = "";
  const expression = `globalThis[${JSON.stringify(HANDOVER)}][${index}]`;
  session.post("Runtime.evaluate", { expression }, (error, evaluated) => {
    const objectId = error === null ? evaluated.result.objectId : undefined;
    if (objectId === undefined) return;
    session.post("Runtime.getProperties", { objectId }, (_none, { internalProperties }) => {
      const location: unknown = internalProperties?.find(({ name }) => name === "[[FunctionLocation]]")?.value?.value;
      if (!isLocation(location)) return;
      const { scriptId, lineNumber, columnNumber } = location;
      session.post("Debugger.getScriptSource", { scriptId }, (unread, script) => {
        const lines = unread === null ? script.scriptSource.split("\n").slice(0, lineNumber + 1) : [];
        text = [...lines.slice(0, -1), lines.at(-1)?.slice(0, columnNumber) ?? ""].join("\n");
      });
    });
  });
  return text;
}

function isLocation(value: unknown): value is Debugger.Location {
  return typeof value === "object" && value !== null && "scriptId" in value && "lineNumber" in value;
}

/** The variable of the last call in a text, if the call is still open at its end. */
function readDeclaration(text: string): string | null {
  const last = [...text.matchAll(/\b(?:const|let|var)\s+([\w$]+)\s*=\s*[\w$.]+\(/g)].at(-1);
  if (last === undefined) return null;
  let depth = 0;
  for (const [bracket] of text.slice(last.index + last[0].length).matchAll(/[()[\]{}]/g)) {
    depth += "([{".includes(bracket) ? 1 : -1;
    if (depth < 0) return null;
  }
  return last[1] ?? null;
}
