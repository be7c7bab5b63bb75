/** Errors that are written at the place where they are thrown instead of the catalog, and the messages of the page. */
import { readFileSync } from "node:fs";

// The compiler of the repository has no programming interface; the one of users' editors has.
import ts, { type Expression, type NewExpression, type Node } from "typescript-5.9";

/** One mistake, as the source refuses it, or as the page describes it. */
export interface Mistake {
  /** `null` if the source does not contain it, or the system sets it. */
  readonly code: string | null;
  /** The message of the error, with `…` in place of variable parts. */
  readonly message: string;
}

/** Which argument of each class is the message, and which has the code. Of the last one each instance is one mistake. */
const CLASSES: ReadonlyMap<string, { message: number; code: number | string }> = new Map([
  ["ConfigurationError", { message: 0, code: 1 }],
  ["RecursionError", { message: 0, code: 1 }],
  ["ServerStartError", { message: 1, code: 0 }],
  ["CommandError", { message: 1, code: 0 }],
  ["EntryError", { message: 0, code: "TSGI_UNUSABLE_ENTRY" }],
]);

/**
 * The errors that a file throws, with their messages as written there. A concatenation from elsewhere cannot be read.
 */
export function mistakesOf(file: string): Mistake[] {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.ESNext, true);
  const mistakes: Mistake[] = [];
  const visit = (node: Node): void => {
    if (ts.isNewExpression(node) && ts.isIdentifier(node.expression))
      mistakes.push(...read(node.expression.text, node));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return mistakes;
}

function read(name: string, { arguments: given = ts.factory.createNodeArray() }: NewExpression): Mistake[] {
  const places = CLASSES.get(name);
  const message = places && given[places.message];
  if (!message) return [];
  const code = typeof places.code === "string" ? places.code : codeOf(given[places.code]);
  return textsOf(message).map((text) => ({ code, message: text.replaceAll(/…+/g, "…").replaceAll("\n", " ") }));
}

/** A literal, or the value of the member `code`. */
function codeOf(node: Node | undefined): string | null {
  if (!node) return null;
  if (ts.isStringLiteral(node)) return node.text;
  if (!ts.isObjectLiteralExpression(node)) return null;
  const member = node.properties.find((property) => property.name?.getText() === "code");
  return member && ts.isPropertyAssignment(member) ? codeOf(member.initializer) : null;
}

/** Every text that an expression can give. */
function textsOf(node: Expression): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isParenthesizedExpression(node)) return textsOf(node.expression);
  if (ts.isConditionalExpression(node)) return [...textsOf(node.whenTrue), ...textsOf(node.whenFalse)];
  if (ts.isTaggedTemplateExpression(node)) {
    return ts.isNoSubstitutionTemplateLiteral(node.template) ? [node.template.rawText ?? ""] : ["…"];
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    return textsOf(node.left).flatMap((left) => textsOf(node.right).map((right) => left + right));
  }
  if (ts.isTemplateExpression(node)) {
    return [node.head.text + node.templateSpans.map((span) => `…${span.literal.text}`).join("")];
  }
  return ["…"];
}

/** The keys of a file of the catalogue. */
export function keysOf(text: string): string[] {
  return [...text.matchAll(/^ {2}"?([A-Z][A-Z_]+(?:\.\w+)?)"?:/gm)].map((match) => match[1] as string);
}

/** Whether a source uses a message, or writes one with its code. */
export function isThrown(key: string, texts: string): boolean {
  const [code, variant] = key.split(".");
  return [key, `${code}.\${${variant === undefined ? "" : "variant"}}`, code as string].some(
    (name) => texts.includes(`"${name}"`) || texts.includes(`\`${name}\``),
  );
}

/** The mistakes of a page: each row `` - `message` `` below the heading of its code. */
export function describedMistakes(page: string): Mistake[] {
  return page.split(/^(?=##+ )/m).flatMap((section) => {
    const code = /^### (\S+)$/m.exec(section)?.[1] ?? null;
    return [...section.matchAll(/^- (`+) ?(.*?) ?\1(?:<br>|$)/gm)].map((row) => ({ code, message: row[2] as string }));
  });
}
