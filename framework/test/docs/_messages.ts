/** The messages of the errors that tell an author what to write instead, read from the source. */
import { readFileSync } from "node:fs";

// The compiler of the repository has no programming interface; that of users' editors has.
import ts, { type Expression, type Node } from "typescript-5.9";

const CLASSES = new Set(["ConfigurationError", "RecursionError", "ServerStartError"]);

/**
 * The messages that a file gives to such errors, as they stand there, with `…` in the place of what varies. Of one that is
 * put together elsewhere nothing but that can be read.
 */
export function messagesOf(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.ESNext, true);
  const messages: string[] = [];
  const visit = (node: Node): void => {
    if (ts.isNewExpression(node) && ts.isIdentifier(node.expression) && CLASSES.has(node.expression.text)) {
      const argument = node.arguments?.[node.expression.text === "ServerStartError" ? 1 : 0];
      if (argument) messages.push(...textsOf(argument));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return messages.map((text) => text.replaceAll(/…+/g, "…"));
}

/** Every text that an expression can give. */
function textsOf(node: Expression): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isParenthesizedExpression(node)) return textsOf(node.expression);
  if (ts.isConditionalExpression(node)) return [...textsOf(node.whenTrue), ...textsOf(node.whenFalse)];
  if (ts.isTaggedTemplateExpression(node)) return textsOf(node.template);
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    return textsOf(node.left).flatMap((left) => textsOf(node.right).map((right) => left + right));
  }
  if (ts.isTemplateExpression(node)) {
    return [node.head.text + node.templateSpans.map((span) => `…${span.literal.text}`).join("")];
  }
  return ["…"];
}
