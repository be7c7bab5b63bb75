/** Names of functions as their modules declare them: an arrow function inside `withParams` has none of its own. @module */
import type { Debugger, Runtime, Session } from "node:inspector";

/** The property of `globalThis` through which V8's inspector is handed values: its protocol carries none. */
const HANDOVER = "tsgi.declaredNames";

/** Runs on a function that a variable holds, with the name of that variable. */
const COLLECT = `function (name) {
  const { functions, names } = globalThis[${JSON.stringify(HANDOVER)}];
  if (functions.includes(this) && !names.has(this)) names.set(this, name);
}`;

/**
 * The variable that holds each function. Of one that its module exports, or that another function of the module uses, V8
 * knows it; of any other it is read from the text in front of the function. By the inspector, so that registration keeps
 * nothing for it. Empty on a runtime without one.
 *
 * @see https://chromedevtools.github.io/devtools-protocol/v8/Runtime/#type-InternalPropertyDescriptor
 */
export async function findDeclaredNames(functions: readonly unknown[]): Promise<ReadonlyMap<unknown, string>> {
  const names = new Map<unknown, string>();
  const session = await connect();
  if (session === null) return names;
  Object.defineProperty(globalThis, HANDOVER, { value: { functions, names }, configurable: true });
  try {
    session.post("Debugger.enable"); // V8 shows scopes while a debugger is there.
    for (const [index, fn] of functions.entries()) {
      const internals = names.has(fn) ? [] : internalsOf(session, index);
      collectScopes(session, internals);
      const name = names.has(fn) ? null : readDeclaration(session, internals);
      if (name !== null) names.set(fn, name);
    }
  } finally {
    Reflect.deleteProperty(globalThis, HANDOVER);
    session.disconnect();
  }
  return names;
}

async function connect(): Promise<Session | null> {
  try {
    const inspector = await import("node:inspector");
    const session = new inspector.Session();
    session.connect();
    return session;
  } catch {
    return null;
  }
}

/** The engine's own properties of one function. `post` calls back before it returns. */
function internalsOf(session: Session, index: number): readonly Runtime.InternalPropertyDescriptor[] {
  let internals: readonly Runtime.InternalPropertyDescriptor[] = [];
  const expression = `globalThis[${JSON.stringify(HANDOVER)}].functions[${index}]`;
  session.post("Runtime.evaluate", { expression }, (_error, { result }) => {
    internals = propertiesOf(session, result.objectId).internalProperties ?? [];
  });
  return internals;
}

function collectScopes(session: Session, internals: readonly Runtime.InternalPropertyDescriptor[]): void {
  const list = internals.find(({ name }) => name === "[[Scopes]]")?.value;
  for (const { value } of propertiesOf(session, list?.objectId).result) {
    if (value?.description !== "Global") collectScope(session, value);
  }
}

function collectScope(session: Session, scope: Runtime.RemoteObject | undefined): void {
  for (const { name, value } of propertiesOf(session, scope?.objectId).result) {
    if (value?.type !== "function" || value.objectId === undefined) continue;
    const call = { objectId: value.objectId, functionDeclaration: COLLECT, arguments: [{ value: name }] };
    session.post("Runtime.callFunctionOn", call);
  }
}

function propertiesOf(session: Session, objectId: string | undefined): Runtime.GetPropertiesReturnType {
  let properties: Runtime.GetPropertiesReturnType = { result: [] };
  if (objectId === undefined) return properties;
  session.post("Runtime.getProperties", { objectId, ownProperties: true }, (error, found) => {
    if (error === null) properties = found;
  });
  return properties;
}

/** The name in front of a function that is an argument of what is assigned: `const getUser = withParams({}, async () =>`. */
function readDeclaration(session: Session, internals: readonly Runtime.InternalPropertyDescriptor[]): string | null {
  const location: unknown = internals.find(({ name }) => name === "[[FunctionLocation]]")?.value?.value;
  if (!isLocation(location)) return null;
  let source = "";
  session.post("Debugger.getScriptSource", { scriptId: location.scriptId }, (error, script) => {
    if (error === null) source = script.scriptSource;
  });
  const lines = source.split("\n").slice(0, location.lineNumber + 1);
  const before = [...lines.slice(0, -1), lines.at(-1)?.slice(0, location.columnNumber) ?? ""].join("\n");
  const last = [...before.matchAll(/\b(?:const|let|var)\s+([\w$]+)\s*=\s*[\w$.]+\(/g)].at(-1);
  if (last === undefined) return null;
  return isOpen(before.slice(last.index + last[0].length)) ? (last[1] ?? null) : null;
}

function isLocation(value: unknown): value is Debugger.Location {
  return typeof value === "object" && value !== null && "scriptId" in value && "lineNumber" in value;
}

/** Whether a text closes no bracket that was opened in front of it. */
function isOpen(text: string): boolean {
  let depth = 0;
  for (const [bracket] of text.matchAll(/[()[\]{}]/g)) {
    depth += "([{".includes(bracket) ? 1 : -1;
    if (depth < 0) return false;
  }
  return true;
}
