import type { CallExpression, Expression, NewExpression, Statement } from "@babel/types";
import type { SourceFile } from "./source-file.js";

/** A call on an App or a Router that stands as a statement of its own: `app.get("/", …)`. */
export interface Registration {
  method: string;
  /** The first argument where it is a text. */
  path: string | null;
  call: CallExpression;
  statement: Statement;
}

/** An App or a Router that a variable of a module holds, with what is registered on it beside that variable. */
export interface Registrar {
  kind: "App" | "Router";
  variable: string;
  /** The prefix of a Router, as it is written; `""` without one. */
  prefix: string;
  declaration: Statement;
  registrations: readonly Registration[];
}

/** The Apps and Routers of a module: at its top, and in the functions that it declares. */
export function findRegistrars(file: SourceFile): Registrar[] {
  return blocksOf(file.statements).flatMap((block) =>
    block.flatMap((statement) => {
      const found = readDeclaration(statement);
      return found === null ? [] : [{ ...found, registrations: findRegistrations(block, found.variable) }];
    }),
  );
}

/** The list of statements at the top, and those of the functions declared there. */
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

/** What an `export` exports, or the statement itself. */
function declared(statement: Statement): Statement {
  return statement.type === "ExportNamedDeclaration" && statement.declaration ? statement.declaration : statement;
}

function readDeclaration(statement: Statement): Omit<Registrar, "registrations"> | null {
  const declaration = declared(statement);
  if (declaration.type !== "VariableDeclaration") {
    return null;
  }
  for (const { id, init } of declaration.declarations) {
    if (id.type === "Identifier" && init?.type === "NewExpression" && init.callee.type === "Identifier") {
      const { name: kind } = init.callee;
      if (kind === "App" || kind === "Router") {
        return { kind, variable: id.name, prefix: readPrefix(init), declaration: statement };
      }
    }
  }
  return null;
}

function readPrefix({ arguments: [options] }: NewExpression): string {
  const properties = options?.type === "ObjectExpression" ? options.properties : [];
  for (const property of properties) {
    if (property.type === "ObjectProperty" && property.key.type === "Identifier" && property.key.name === "prefix") {
      return property.value.type === "StringLiteral" ? property.value.value : "";
    }
  }
  return "";
}

function findRegistrations(block: readonly Statement[], variable: string): Registration[] {
  return block.flatMap((statement) => {
    const call = statement.type === "ExpressionStatement" ? calledOn(statement.expression, variable) : null;
    return call === null ? [] : [{ ...call, statement }];
  });
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
