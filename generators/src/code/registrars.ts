import type { CallExpression, Expression, ImportDeclaration, NewExpression, Node, Statement } from "@babel/types";
import type { SourceFile } from "./source-file.js";

/**
 * A call on an App or a Router, as a statement or as the value of a variable: `app.get("/", …)`, `export const x =
 * app.get("/", …)`.
 */
export interface Registration {
  method: string;
  /** The first argument if it is a string literal. */
  path: string | null;
  call: CallExpression;
  statement: Statement;
}

/** An App or a Router in a variable of a module, with the registrations on it next to that variable. */
export interface Registrar {
  kind: "App" | "Router";
  variable: string;
  /** The prefix of a Router, or `""`. */
  prefix: string;
  declaration: Statement;
  /** The expression `new App(…)` or `new Router(…)`. */
  creation: NewExpression;
  registrations: readonly Registration[];
  /** The variables at the top of the module and of the modules that it imports, such as a guard that several routes share. */
  variables: ReadonlyMap<string, Expression>;
}

/** The guard that limits the routes of a registrar to logged-in users. */
export interface Guard {
  /** The dependency that returns the current user. */
  name: string;
  /** The variable with its `Depends(…)`, or `null`. */
  variable: string | null;
  /** True if the App or Router has it, false if each of its routes has it. */
  isShared: boolean;
}

/** The dependencies of the template `auth` that return the current user or respond with 401. */
const guards: ReadonlySet<string> = new Set(["getCurrentAccount", "getCurrentUser"]);

/** The guard of a registrar: its own, or one that all of its routes have. */
export function guardOf({ creation, registrations, variables }: Registrar): Guard | null {
  const guardIn = (options: Node | undefined, member: string) =>
    dependenciesOf(options, member, variables).find(({ name }) => guards.has(name));
  const shared = guardIn(creation.arguments[0], "dependencies");
  if (shared !== undefined) {
    return { ...shared, isShared: true };
  }
  const routes = registrations.filter(({ method }) => verbs.test(method));
  const ofEach = routes.map(({ call }) => guardIn(call.arguments[1], "params"));
  return ofEach[0] !== undefined && ofEach.every(Boolean) ? { ...ofEach[0], isShared: false } : null;
}

const verbs = /^(?:get|post|put|patch|delete)$/;

/** The `Depends(…)` or `Security(…)` in a member of an options object. */
function dependenciesOf(
  options: Node | undefined,
  member: string,
  variables: ReadonlyMap<string, Expression>,
): Omit<Guard, "isShared">[] {
  const resolve = (node: Node | null | undefined) =>
    node?.type === "Identifier" ? (variables.get(node.name) ?? node) : node;
  const value = options === undefined ? undefined : resolve(memberOf(options, member));
  const list =
    value?.type === "ArrayExpression"
      ? value.elements
      : value?.type === "ObjectExpression"
        ? value.properties.map((property) => (property.type === "ObjectProperty" ? property.value : null))
        : [];
  return list.flatMap((given) => {
    const element = resolve(given);
    const isMarker =
      element?.type === "CallExpression" &&
      element.callee.type === "Identifier" &&
      /^(?:Depends|Security)$/.test(element.callee.name);
    const first = isMarker ? element.arguments[0] : undefined;
    return first?.type === "Identifier"
      ? [{ name: first.name, variable: given?.type === "Identifier" ? given.name : null }]
      : [];
  });
}

function memberOf(object: Node, name: string): Node | undefined {
  const properties = object.type === "ObjectExpression" ? object.properties : [];
  for (const property of properties) {
    if (property.type === "ObjectProperty" && property.key.type === "Identifier" && property.key.name === name) {
      return property.value;
    }
  }
  return undefined;
}

/**
 * The Apps and Routers of a module: at its top, and in the functions that it declares.
 *
 * @param open opens a module of the project by the specifier of an import, or returns `null`
 */
export function findRegistrars(
  file: SourceFile,
  open: (specifier: string) => SourceFile | null = () => null,
): Registrar[] {
  const variables = new Map([
    ...file.imports.flatMap((statement) => importedBy(statement, open)),
    ...variablesAt(file),
  ]);
  return blocksOf(file.statements).flatMap((block) =>
    block.flatMap((statement) => {
      const found = readDeclaration(statement);
      return found === null ? [] : [{ ...found, registrations: findRegistrations(block, found.variable), variables }];
    }),
  );
}

/** The list of statements at the top, and the statements of the functions declared there. */
function blocksOf(statements: readonly Statement[]): (readonly Statement[])[] {
  const bodies = statements.map(declared).flatMap((statement) => {
    if (statement.type === "FunctionDeclaration") {
      return [statement.body.body];
    }
    if (statement.type === "VariableDeclaration") {
      return statement.declarations.flatMap(({ init }) =>
        (init?.type === "ArrowFunctionExpression" || init?.type === "FunctionExpression") &&
        init.body.type === "BlockStatement"
          ? [init.body.body]
          : [],
      );
    }
    return [];
  });
  return [statements, ...bodies];
}

/** The declaration of an `export`, or the statement itself. */
function declared(statement: Statement): Statement {
  return statement.type === "ExportNamedDeclaration" && statement.declaration ? statement.declaration : statement;
}

const variablesAt = (file: SourceFile) => new Map(file.statements.flatMap(variablesOf));

/** The variables of an imported module, under its names and under the local names of the imports. */
function importedBy(
  { source, specifiers }: ImportDeclaration,
  open: (specifier: string) => SourceFile | null,
): [string, Expression][] {
  const file = open(source.value);
  const variables = file === null ? new Map<string, Expression>() : variablesAt(file);
  const renamed = specifiers.flatMap((specifier): [string, Expression][] => {
    if (specifier.type !== "ImportSpecifier" || specifier.imported.type !== "Identifier") return [];
    const value = variables.get(specifier.imported.name);
    return value ? [[specifier.local.name, value]] : [];
  });
  return [...variables, ...renamed];
}

/** The variables of a statement, with their values. */
function variablesOf(statement: Statement): [string, Expression][] {
  const declaration = declared(statement);
  return declaration.type === "VariableDeclaration"
    ? declaration.declarations.flatMap(({ id, init }): [string, Expression][] =>
        id.type === "Identifier" && init ? [[id.name, init]] : [],
      )
    : [];
}

function readDeclaration(statement: Statement): Omit<Registrar, "registrations" | "variables"> | null {
  const declaration = declared(statement);
  if (declaration.type !== "VariableDeclaration") {
    return null;
  }
  for (const { id, init } of declaration.declarations) {
    if (id.type === "Identifier" && init?.type === "NewExpression" && init.callee.type === "Identifier") {
      const { name: kind } = init.callee;
      if (kind === "App" || kind === "Router") {
        return { kind, variable: id.name, prefix: readPrefix(init), declaration: statement, creation: init };
      }
    }
  }
  return null;
}

function readPrefix({ arguments: [options] }: NewExpression): string {
  const prefix = options === undefined ? undefined : memberOf(options, "prefix");
  return prefix?.type === "StringLiteral" ? prefix.value : "";
}

function findRegistrations(block: readonly Statement[], variable: string): Registration[] {
  return block.flatMap((statement) =>
    valuesOf(declared(statement)).flatMap((value) => {
      const call = calledOn(value, variable);
      return call === null ? [] : [{ ...call, statement }];
    }),
  );
}

/** The expression of a statement, or the values of its variables. */
function valuesOf(statement: Statement): Expression[] {
  if (statement.type === "VariableDeclaration") {
    return statement.declarations.flatMap(({ init }) => init ?? []);
  }
  return statement.type === "ExpressionStatement" ? [statement.expression] : [];
}

/** `app.get(…)`, and `app.get("/", {…})(handler)` alike. */
function calledOn(expression: Expression, variable: string): Omit<Registration, "statement"> | null {
  if (expression.type !== "CallExpression") {
    return null;
  }
  const { callee } = expression;
  if (callee.type === "CallExpression") {
    return calledOn(callee, variable);
  }
  const isOurs =
    callee.type === "MemberExpression" &&
    callee.object.type === "Identifier" &&
    callee.object.name === variable &&
    callee.property.type === "Identifier";
  if (!isOurs || callee.property.type !== "Identifier") {
    return null;
  }
  const [first] = expression.arguments;
  const path = first?.type === "StringLiteral" ? first.value : null;
  return { method: callee.property.name, path, call: expression };
}
